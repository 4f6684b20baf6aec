#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "csv.hpp"
#include "svmlight.hpp"

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

// Parts travel between the counting and the parsing call as rows (begin, end, rows, entries).
std::vector<Part> parts_of(const Text& text, const Matrix<const std::int64_t>& parts) {
    const char* const p = reinterpret_cast<const char*>(text.data());
    std::vector<Part> out;
    for (std::size_t t = 0; t < parts.shape(0); ++t) {
        const std::int64_t* const v = parts.data() + 4 * t;
        out.push_back({p + v[0], p + v[1], Index(v[2]), Index(v[3])});
    }
    return out;
}

void parts_to(const std::vector<Part>& parts, const char* begin, std::int64_t* out) {
    for (const Part& part : parts) {
        *out++ = part.begin - begin, *out++ = part.end - begin;
        *out++ = part.rows, *out++ = part.entries;
    }
}

}  // namespace

void bind_streams(nb::module_& m) {
    m.def(
        "lines",
        [](Text text, Index n) {
            const char* const p = reinterpret_cast<const char*>(text.data());
            return occurrences(p, p + std::clamp<Index>(n, 0, Index(text.shape(0))), '\n');
        },
        "text"_a, "n"_a, NoGil());
    m.def(
        "svmlight_parts",
        [](Text text, Index n, Matrix<std::int64_t> parts) {
            const auto [begin, end] = whole_lines(text, n);
            const auto cut = [last = end](const char*, const char* goal) {
                return after_line(goal - 1, last);
            };
            parts_to(split(begin, end, unsigned(parts.shape(0)), ':', cut), begin, parts.data());
        },
        "text"_a, "n"_a, "parts"_a.noconvert(), NoGil());
    m.def(
        "svmlight",
        [](Text text, Matrix<const std::int64_t> parts, Index base, Index width, int missing, bool skip,
           Vector<double> y, Vector<std::int32_t> ends, Vector<std::int32_t> indices, Vector<double> data) {
            const Outcome o = svmlight(parts_of(text, parts), {base, width, Missing(missing), skip},
                                       {y.data(), ends.data(), indices.data(), data.data()});
            const Index at = o.at ? o.at - reinterpret_cast<const char*>(text.data()) : -1;
            return std::tuple(o.rows, o.entries, o.bad, int(o.fault), at);
        },
        "text"_a, "parts"_a, "base"_a, "width"_a, "missing"_a, "skip"_a, "y"_a.noconvert(),
        "ends"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), NoGil());
    m.def(
        "csv_parts",
        [](Text text, Index n, int separator, Index columns, Matrix<std::int64_t> parts) {
            const auto [begin, end] = whole_lines(text, n);
            parts_to(csv_split(begin, end, unsigned(parts.shape(0)), char(separator), columns), begin,
                     parts.data());
        },
        "text"_a, "n"_a, "separator"_a, "columns"_a, "parts"_a.noconvert(), NoGil());
    m.def(
        "csv",
        [](Text text, Matrix<const std::int64_t> parts, int separator, Vector<const std::int32_t> roles,
           Vector<const std::uint8_t> missing, Index weight, bool skip, Matrix<double> X,
           Matrix<double> others, Matrix<std::int32_t> codes) {
            std::vector<Met> met;
            const char* const begin = reinterpret_cast<const char*>(text.data());
            const CsvRules rules{char(separator),
                                 roles.data(),
                                 Index(roles.shape(0)),
                                 Index(X.shape(1)),
                                 Index(others.shape(1)),
                                 Index(codes.shape(1)),
                                 missing.data(),
                                 weight,
                                 skip};
            const CsvOutcome o =
                csv(parts_of(text, parts), rules, {X.data(), others.data(), codes.data()}, met);
            std::vector<std::tuple<Index, Index, Index>> values;
            for (const Met& v : met)
                values.emplace_back(v.column, v.value.begin - begin, v.value.end - begin);
            return std::tuple(o.rows, o.bad, int(o.fault), o.at ? o.at - begin : -1, o.column, values);
        },
        "text"_a, "parts"_a, "separator"_a, "roles"_a, "missing"_a, "weight"_a, "skip"_a, "X"_a.noconvert(),
        "others"_a.noconvert(), "codes"_a.noconvert(), NoGil());
    m.def(
        "csv_texts",
        [](Text text, Index n, int separator, Index rows, Vector<std::uint8_t> out) {
            const auto [begin, end] = whole_lines(text, n);
            csv_texts(begin, end, char(separator), Index(out.shape(0)), rows, out.data());
        },
        "text"_a, "n"_a, "separator"_a, "rows"_a, "text_columns"_a.noconvert(), NoGil());
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
}

}  // namespace streamsieve
