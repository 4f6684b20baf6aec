// Rows of delimited text, quoted as RFC 4180 has it, straight into a row-ordered matrix of numbers and codes
// of what is not a number. No allocation per row but for a value met for the first time.
#pragma once
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "text/text.hpp"

namespace streamsieve {

// What becomes of a column: its place among the numbers (features first, then target and weight), ~ its place
// among the texts (< 0), or nothing.
constexpr std::int32_t IGNORED = std::numeric_limits<std::int32_t>::max();

// What a missing value does, and a word in a column of numbers: it is an error, becomes the column's fill (or
// code -1), or its row is left out.
enum class Gap : std::uint8_t { error, fill, leave_out };

struct CsvRules {
    char separator;
    const std::int32_t* roles;  // one per column
    Index columns;
    Index features, others, texts;  // columns of each sort
    const std::uint8_t* gaps;       // of each column, as Gap
    const std::uint8_t* styles;     // how numbers are written in it, as Style
    const double* fills;            // the number that a missing one becomes
    Index weight;                   // the place of a number that may not be negative, or -1
    bool skip;
};

// Words met in a column of numbers that were read as missing, and where the first of them begins.
struct OddCells {
    std::int64_t count, first;
};

// What stands between two separators. `begin` is at the opening quote only where quotes inside are doubled,
// so that equal stretches are equal values.
struct Cell {
    const char *begin, *end, *next;  // next: the separator or line end after it
    Fault fault;
};

inline bool ends_cell(const char* p, char separator) {
    return *p == separator || ends_line(p);
}

inline Cell cell(const char* p, const char* end, char separator) {
    if (*p != '"') {
        const char* q = p;
        bool nul = false;
        while (!ends_cell(q, separator)) nul |= *q++ == '\0';
        return {p, q, q, nul ? Fault::nul : Fault::none};
    }
    bool doubled = false, nul = false;
    const char* q = p + 1;
    for (; q < end; ++q) {
        if (*q == '"') {
            if (q[1] != '"') break;
            doubled = true, ++q;
        }
        nul |= *q == '\0';
    }
    if (q >= end || !ends_cell(q + 1, separator)) return {p, p, p, Fault::quote};
    return {doubled ? p : p + 1, doubled ? q + 1 : q, q + 1, nul ? Fault::nul : Fault::none};
}

// Where the row after the one at p begins, or nullptr if the text ends inside it.
inline const char* next_row(const char* p, const char* end, char separator) {
    while (p < end) {
        if (*p == '"') {  // at the start of a cell: only here does a quote hide line ends
            for (++p; p < end; ++p)
                if (*p == '"' && *++p != '"') break;
        }
        while (p < end && *p != separator && *p != '\n') ++p;
        if (p >= end) break;
        if (*p++ == '\n') return p;
    }
    return nullptr;
}

// Where the last whole row of the text ends; `begin` if none does.
inline const char* whole_rows(const char* begin, const char* end, char separator) {
    if (!std::memchr(begin, '"', std::size_t(end - begin))) {
        while (end > begin && end[-1] != '\n') --end;
        return end;
    }
    const char* p = begin;
    while (const char* q = next_row(p, end, separator)) p = q;
    return p;
}

struct View {
    const char *begin, *end;
    std::string_view text() const { return {begin, std::size_t(end - begin)}; }
};

// The values of a column in the order met, coded 0, 1, ...
class Codes {
  public:
    std::int32_t code(View v) {
        if (recent_ < values_.size() && values_[recent_].text() == v.text()) return std::int32_t(recent_);
        const auto [at, fresh] = codes_.try_emplace(v.text(), std::int32_t(values_.size()));
        if (fresh) values_.push_back(v);
        recent_ = std::size_t(at->second);
        return at->second;
    }
    void forget_from(std::size_t n) {
        for (; values_.size() > n; values_.pop_back()) codes_.erase(values_.back().text());
    }
    const std::vector<View>& values() const { return values_; }

  private:
    std::unordered_map<std::string_view, std::int32_t> codes_;
    std::vector<View> values_;
    std::size_t recent_ = 0;  // runs of one value are common
};

inline void trim(const char*& p, const char*& end) {
    while (p < end && (*p == ' ' || *p == '\t')) ++p;
    while (p < end && (end[-1] == ' ' || end[-1] == '\t')) --end;
}

// A cell that does not begin with a plain number: quoted, with blanks around it, written in another style,
// missing, or wrong. Fault::missing leaves x as it is.
inline Fault number_cell(const Cell& c, Style style, double& x) {
    const char *p = c.begin, *end = c.end;
    trim(p, end);
    double found = 0;
    const bool good =
        style == Style::plain ? p < end && number(p, found) == end : written_number(p, end, style, found);
    if (good) {
        x = found;
        return std::isinf(x) ? Fault::infinite : Fault::none;
    }
    if (is_missing(p, end) || stands_for_no_number(p, end)) return Fault::missing;
    const char* word = p + (p < end && (*p == '-' || *p == '+'));
    const bool infinite =
        end - word >= 3 && (word[0] | 0x20) == 'i' && (word[1] | 0x20) == 'n' && (word[2] | 0x20) == 'f';
    return infinite ? Fault::infinite : Fault::value;
}

// One row at p: numbers to `features` and `others`, codes to `code` (-1: missing). Leaves p after the row, or
// where the fault is, and in `column` which cell that was.
inline Fault csv_row(const char*& p, const char* end, const CsvRules& rules, double* features, double* others,
                     std::int32_t* code, Codes* codes, OddCells* odd, const char* text, Index& column) {
    Marks marks(p, rules.separator, '\n');
    for (Index c = 0; c < rules.columns; ++c) {
        column = c;
        const std::int32_t role = rules.roles[c];
        const char* next = marks.next();
        if (role >= 0 && role != IGNORED) {
            double& x = role < rules.features ? features[role] : others[role - rules.features];
            if (rules.styles[c] || !plain_number(p, next - p, x)) {
                const Cell found = cell(p, end, rules.separator);
                if (found.fault != Fault::none) return found.fault;
                const Fault fault = number_cell(found, Style(rules.styles[c]), x);
                if (fault == Fault::missing || fault == Fault::value) {
                    const Gap gap = Gap(rules.gaps[c]);
                    if (gap == Gap::error) return fault;
                    if (fault == Fault::value && odd[c].count++ == 0) odd[c].first = found.begin - text;
                    if (gap == Gap::leave_out) return Fault::left_out;
                    x = rules.fills[c];
                } else if (fault != Fault::none) {
                    return fault;
                }
                marks.seek((next = found.next) + 1);
            }
            if (role == rules.weight && x < 0) return Fault::weight;
        } else {
            const Cell found = cell(p, end, rules.separator);
            if (found.fault != Fault::none) return found.fault;
            marks.seek((next = found.next) + 1);
            if (role != IGNORED) {
                const char *from = found.begin, *to = found.end;
                trim(from, to);
                const bool missing = is_missing(from, to);
                if (missing && Gap(rules.gaps[c]) != Gap::fill)
                    return Gap(rules.gaps[c]) == Gap::error ? Fault::missing : Fault::left_out;
                code[~role] = missing ? -1 : codes[~role].code({from, to});
            }
        }
        const bool last = c + 1 == rules.columns;
        if (*next == rules.separator) {
            if (last) return p = next + 1, Fault::cells_many;
            p = next + 1;
        } else {
            if (!last) return Fault::cells_few;
            p = next + (*next == '\r' ? 2 : 1);
        }
    }
    return Fault::none;
}

struct CsvOut {
    double* X;            // rows x features
    double* others;       // rows x others: target, weight
    std::int32_t* codes;  // rows x texts
};

struct CsvOutcome : Outcome {
    Index column = 0, left_out = 0;  // the column of the first refusal; rows without a target
};

// All rows of a text, up to the first refusal. `codes` gathers the values of each text column.
inline CsvOutcome csv(const char* p, const char* end, const CsvRules& rules, const CsvOut& out,
                      std::vector<Codes>& codes, OddCells* odd) {
    CsvOutcome done;
    const char* const text = p;
    std::vector<std::size_t> known(codes.size());
    while (p < end) {
        if (ends_line(p)) {  // an empty line is no row
            p += *p == '\r' ? 2 : 1;
            continue;
        }
        const char* const row = p;
        for (std::size_t k = 0; k < codes.size(); ++k) known[k] = codes[k].values().size();
        const Fault fault =
            csv_row(p, end, rules, out.X + done.rows * rules.features, out.others + done.rows * rules.others,
                    out.codes + done.rows * rules.texts, codes.data(), odd, text, done.column);
        if (fault == Fault::none) {
            ++done.rows;
            continue;
        }
        for (std::size_t k = 0; k < codes.size(); ++k) codes[k].forget_from(known[k]);
        if (fault != Fault::left_out && !rules.skip) {
            done.fault = fault, done.at = p;
            return done;
        }
        ++(fault == Fault::left_out ? done.left_out : done.bad);
        const char* const next = next_row(row, end, rules.separator);
        p = next ? next : after_line(row, end);  // no closing quote: only its line is lost
    }
    return done;
}

// Of each column in the first `rows` rows: cells that are numbers, cells that are neither numbers nor
// missing, and where the first of the latter begins.
struct CellCounts {
    std::int64_t numbers, texts, first_text;
};

inline void csv_texts(const char* const begin, const char* end, char separator, Index columns, Index rows,
                      CellCounts* counts) {
    for (const char* p = begin; p < end && rows > 0; --rows) {
        const char* const next = next_row(p, end, separator);
        if (!next) return;
        for (Index c = 0; c < columns; ++c) {
            const Cell found = cell(p, end, separator);
            double x = 0;
            if (found.fault != Fault::none) break;
            const Fault fault = number_cell(found, Style::plain, x);
            if (fault == Fault::value && counts[c].texts++ == 0) counts[c].first_text = found.begin - begin;
            if (fault == Fault::none) ++counts[c].numbers;
            if (*found.next != separator) break;
            p = found.next + 1;
        }
        p = next;
    }
}

}  // namespace streamsieve
