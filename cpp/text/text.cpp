#include <nanobind/stl/pair.h>
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
           Vector<const std::uint8_t> missing, Index weight, bool skip, Matrix<double> X,
           Matrix<double> others, Matrix<std::int32_t> codes) {
            const auto [begin, end] = whole_lines(text, n);
            const CsvRules rules{char(separator),
                                 roles.data(),
                                 Index(roles.shape(0)),
                                 Index(X.shape(1)),
                                 Index(others.shape(1)),
                                 Index(codes.shape(1)),
                                 missing.data(),
                                 weight,
                                 skip};
            std::vector<Codes> met(codes.shape(1));
            const CsvOutcome o = csv(begin, end, rules, {X.data(), others.data(), codes.data()}, met);
            std::vector<std::vector<std::pair<Index, Index>>> values;  // of each text column, as met
            for (const Codes& column : met) {
                auto& places = values.emplace_back();
                for (const View& v : column.values()) places.emplace_back(v.begin - begin, v.end - begin);
            }
            return std::tuple(o.rows, o.bad, int(o.fault), o.at ? o.at - begin : -1, o.column, values);
        },
        "text"_a, "n"_a, "separator"_a, "roles"_a, "missing"_a, "weight"_a, "skip"_a, "X"_a.noconvert(),
        "others"_a.noconvert(), "codes"_a.noconvert(), NoGil());
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
