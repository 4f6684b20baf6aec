// Rows of svmlight text: `label [qid:n] index:value ... [# comment]`. One pass, straight into CSR arrays laid
// out by counting newlines and colons first; no allocation per row.
#pragma once
#include <utility>

#include "text/text.hpp"

namespace streamsieve {

struct SvmlightRules {
    Index base;   // 1: indices count from one
    Index width;  // indices from this on (counted from zero) are refused
    Missing missing;
    bool skip;  // go on after a bad row
};

// Where the rows go. `ends` holds the end of each row's entries.
struct CsrOut {
    double* y;
    std::int32_t* ends;
    std::int32_t* indices;
    double* data;
};

inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}
inline bool ends_token(const char* p) {
    return is_blank(*p) || *p == '#' || ends_line(p);
}
inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}
inline const char* token_end(const char* p) {
    while (!ends_token(p)) ++p;
    return p;
}

// Puts the entries of a row in order; the place of an index that occurs twice, or nullptr.
inline const std::int32_t* sort_entries(std::int32_t* j, double* x, Index n) {
    std::vector<std::pair<std::int32_t, double>> row(std::size_t(n), {0, 0.0});
    for (Index e = 0; e < n; ++e) row[std::size_t(e)] = {j[e], x[e]};
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::int32_t* twice = nullptr;
    for (Index e = 0; e < n; ++e) {
        j[e] = row[std::size_t(e)].first, x[e] = row[std::size_t(e)].second;
        if (e > 0 && j[e] == j[e - 1]) twice = j + e;
    }
    return twice;
}

// Reads the value at p, and leaves p at its end or, where there is a fault, at its beginning. `keep` tells
// whether it counts.
inline Fault svmlight_value(const char*& p, double& x, Missing missing, bool& keep) {
    const char* const q = number(p, x);
    keep = true;
    if (q && ends_token(q)) {
        if (std::isinf(x)) return Fault::infinite;
        p = q;
        return Fault::none;
    }
    const char* const end = token_end(p);
    if (end > p && is_missing(p, end)) {
        if (missing == Missing::error) return Fault::missing;
        x = std::numeric_limits<double>::quiet_NaN();
        keep = missing == Missing::keep;
        p = end;
        return Fault::none;
    }
    const char* word = p + (*p == '-' || *p == '+');
    if (end - word >= 3 && (word[0] | 0x20) == 'i' && (word[1] | 0x20) == 'n' && (word[2] | 0x20) == 'f')
        return Fault::infinite;
    return Fault::value;
}

// One row at p, written at its place; leaves p where the fault is.
inline Fault svmlight_row(const char*& p, const SvmlightRules& rules, double& y, std::int32_t* j, double* x,
                          Index& length) {
    Index n = 0;
    bool keep, sorted = true;
    std::int64_t last = -1;
    const char* const label = p;
    if (Fault fault = svmlight_value(p, y, Missing::error, keep); fault != Fault::none) {
        if (fault == Fault::value && std::memchr(p, ',', std::size_t(token_end(p) - p))) return Fault::labels;
        return fault == Fault::value ? Fault::label : fault;
    }
    p = skip_blanks(p);
    if (!std::strncmp(p, "qid:", 4)) {
        const char* const q = p + 4 + (p[4] == '-');
        std::uint64_t ignored = 0;
        const char* const end = digits(q, ignored);
        if (end == q || !ends_token(end)) return Fault::pair;
        p = skip_blanks(end);
    }
    Marks marks(p, ':', ' ', '\n');
    for (const char* colon; *(colon = marks.next()) == ':';) {  // plain entries, one blank apart
        const char* const stop = marks.next();
        const unsigned places = unsigned(std::min<std::ptrdiff_t>(colon - p, 9));
        const std::uint64_t c = load8(p),
                            index = eight_digits(c, std::min(places, 8u)) - std::uint64_t(rules.base);
        if (places == 0 || leading_digits(c) != places || index >= std::uint64_t(rules.width) ||
            *stop == ':' || !plain_number(colon + 1, stop - colon - 1, x[n]))
            break;
        sorted = sorted && std::int64_t(index) > last;
        last = std::int64_t(index);
        j[n++] = std::int32_t(index);
        p = stop;
        if (*p == '\n') break;
        ++p;
    }
    for (p = skip_blanks(p); !ends_line(p) && *p != '#'; p = skip_blanks(p)) {
        const char* const token = p;
        std::uint64_t index = 0;
        p = digits(p, index);
        if (p == token || *p != ':') return p = token, Fault::pair;
        if (p - token > 18) index = std::numeric_limits<std::int64_t>::max();
        if (index < std::uint64_t(rules.base)) return p = token, Fault::zero;
        index -= std::uint64_t(rules.base);
        if (index >= std::uint64_t(rules.width)) return p = token, Fault::index;
        ++p;
        if (Fault fault = svmlight_value(p, x[n], rules.missing, keep); fault != Fault::none) return fault;
        sorted = sorted && std::int64_t(index) > last;
        last = std::int64_t(index);
        j[n] = std::int32_t(index);
        n += keep;
    }
    if (!sorted && sort_entries(j, x, n)) return p = label, Fault::repeated;
    length = n;
    return Fault::none;
}

// All rows of a text. Stops at the first bad row, or, if told to skip, counts it and goes on.
inline Outcome svmlight(const char* p, const char* end, const SvmlightRules& rules, const CsrOut& out) {
    Outcome done;
    while (p < end) {
        p = skip_blanks(p);
        if (!ends_line(p) && *p != '#') {
            Index length = 0;
            const Fault fault = svmlight_row(p, rules, out.y[done.rows], out.indices + done.entries,
                                             out.data + done.entries, length);
            if (fault == Fault::none) {
                done.entries += length;
                out.ends[done.rows++] = std::int32_t(done.entries);
            } else if (rules.skip) {
                ++done.bad;
            } else {
                done.fault = fault, done.at = p;
                return done;
            }
        }
        p = after_line(p, end);
    }
    return done;
}

}  // namespace streamsieve
