#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/bind.hpp"
#include "text/csv.hpp"
#include "text/svmlight.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

using Text = Vector<const std::uint8_t>;

// The first n bytes: whole lines, with room after them for loads of eight bytes.
std::pair<const char*, const char*> whole_lines(const Text& text, Index n) {
    const char* p = reinterpret_cast<const char*>(text.data());
    if (n < 0 || std::size_t(n) + PADDING > text.shape(0)) throw nb::value_error("text lacks its padding");
    if (n > 0 && p[n - 1] != '\n') throw nb::value_error("text does not end with a newline");
    return {p, p + n};
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    m.def(
        "lines",
        [](Text text, Index n) {
            const char* const p = reinterpret_cast<const char*>(text.data());
            return occurrences(p, p + std::clamp<Index>(n, 0, Index(text.shape(0))), '\n');
        },
        "text"_a, "n"_a, NoGil());
    m.def(
        "entries",
        [](Text text, Index n) {
            const auto [begin, end] = whole_lines(text, n);
            return occurrences(begin, end, ':');
        },
        "text"_a, "n"_a, NoGil());
    m.def(
        "svmlight",
        [](Text text, Index n, Index base, Index width, int missing, bool skip, Vector<double> y,
           Vector<std::int32_t> ends, Vector<std::int32_t> indices, Vector<double> data) {
            const auto [begin, end] = whole_lines(text, n);
            const Outcome o = svmlight(begin, end, {base, width, Missing(missing), skip},
                                       {y.data(), ends.data(), indices.data(), data.data()});
            return std::tuple(o.rows, o.entries, o.bad, int(o.fault), o.at ? o.at - begin : -1);
        },
        "text"_a, "n"_a, "base"_a, "width"_a, "missing"_a, "skip"_a, "y"_a.noconvert(), "ends"_a.noconvert(),
        "indices"_a.noconvert(), "data"_a.noconvert(), NoGil());
    m.def(
        "csv",
        [](Text text, Index n, int separator, Vector<const std::int32_t> roles,
           Vector<const std::uint8_t> gaps, Vector<const std::uint8_t> styles, Vector<const double> fills,
           Index weight, bool skip, Matrix<double> X, Matrix<double> others, Matrix<std::int32_t> codes,
           Matrix<std::int64_t> odd) {
            const auto [begin, end] = whole_lines(text, n);
            const std::size_t columns = roles.shape(0);
            if (gaps.shape(0) != columns || styles.shape(0) != columns || fills.shape(0) != columns ||
                odd.shape(0) != columns || odd.shape(1) != 2)
                throw nb::value_error("one gap, style, fill and (count, first) for each column");
            const CsvRules rules{char(separator),
                                 roles.data(),
                                 Index(columns),
                                 Index(X.shape(1)),
                                 Index(others.shape(1)),
                                 Index(codes.shape(1)),
                                 gaps.data(),
                                 styles.data(),
                                 fills.data(),
                                 weight,
                                 skip};
            std::vector<Codes> met(codes.shape(1));
            const CsvOutcome o = csv(begin, end, rules, {X.data(), others.data(), codes.data()}, met,
                                     reinterpret_cast<OddCells*>(odd.data()));
            std::vector<std::vector<std::pair<Index, Index>>> values;  // of each text column, as met
            for (const Codes& column : met) {
                auto& places = values.emplace_back();
                for (const View& v : column.values()) places.emplace_back(v.begin - begin, v.end - begin);
            }
            return std::tuple(o.rows, o.bad, o.left_out, int(o.fault), o.at ? o.at - begin : -1, o.column,
                              values);
        },
        "text"_a, "n"_a, "separator"_a, "roles"_a, "gaps"_a, "styles"_a, "fills"_a, "weight"_a, "skip"_a,
        "X"_a.noconvert(), "others"_a.noconvert(), "codes"_a.noconvert(), "odd"_a.noconvert(), NoGil());
    m.def(
        "numbers",
        [](const std::vector<std::string>& values, int style, Vector<double> x, Vector<std::uint8_t> fault) {
            if (x.shape(0) != values.size() || fault.shape(0) != values.size())
                throw nb::value_error("one number and fault for each value");
            std::string padded;
            for (std::size_t i = 0; i < values.size(); ++i) {
                padded.assign(values[i]).append(1 + PADDING, '\n');
                const char* const p = padded.data();
                x.data()[i] = std::numeric_limits<double>::quiet_NaN();
                fault.data()[i] = std::uint8_t(
                    number_cell({p, p + values[i].size(), nullptr, Fault::none}, Style(style), x.data()[i]));
            }
        },
        "values"_a, "style"_a, "x"_a.noconvert(), "fault"_a.noconvert());
    m.def(
        "csv_texts",
        [](Text text, Index n, int separator, Index rows, Matrix<std::int64_t> counts) {
            const auto [begin, end] = whole_lines(text, n);
            if (counts.shape(1) != 3) throw nb::value_error("counts are (columns, 3)");
            csv_texts(begin, end, char(separator), Index(counts.shape(0)), rows,
                      reinterpret_cast<CellCounts*>(counts.data()));
        },
        "text"_a, "n"_a, "separator"_a, "rows"_a, "counts"_a.noconvert(), NoGil());
    m.def(
        "csv_whole_rows",
        [](Text text, Index n, int separator, bool first) {
            const char* const p = reinterpret_cast<const char*>(text.data());
            if (n < 0 || std::size_t(n) + PADDING > text.shape(0)) throw nb::value_error("no padding");
            if (!first) return whole_rows(p, p + n, char(separator)) - p;
            const char* const q = next_row(p, p + n, char(separator));
            return q ? q - p : Index(0);
        },
        "text"_a, "n"_a, "separator"_a, "first"_a = false, NoGil());
});

}  // namespace streamsieve
