// What the text parsers share: what can be wrong with a row, and a text dealt out to threads.
#pragma once
#include <algorithm>
#include <vector>

#include "number.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace streamsieve {

// Why a row was refused. Python has the words for each, in the same order.
enum class Fault {
    none,
    label,       // the label is not a number
    labels,      // several labels
    pair,        // not index:value
    zero,        // index 0 where they count from one
    index,       // an index beyond the width allowed
    repeated,    // an index twice in a row
    value,       // not a number
    infinite,    // infinite, or too large for a double
    missing,     // missing where it may not be
    cells_few,   // fewer cells than columns
    cells_many,  // more cells than columns
    quote,       // text after a closing quote, or no closing quote
    nul,         // a NUL byte
    weight       // a negative weight
};

enum class Missing { error, keep, zero };

// A stretch of the text, of whole lines, and how much it can hold at most.
struct Part {
    const char *begin, *end;
    Index rows, entries;
};

// What came of a part: rows written, entries written, rows skipped, and the first refusal.
struct Outcome {
    Index rows = 0, entries = 0, bad = 0;
    Fault fault = Fault::none;
    const char* at = nullptr;
};

inline const char* after_line(const char* p, const char* end) {
    const void* n = std::memchr(p, '\n', std::size_t(end - p));
    return n ? static_cast<const char*>(n) + 1 : end;
}

inline bool ends_line(const char* p) {
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

// The text in `threads` parts of about equal length, cut where `next_row(p)` says that a row begins.
template <class NextRow>
std::vector<Part> split(const char* begin, const char* end, unsigned threads, char entry, NextRow next_row) {
    std::vector<Part> parts;
    const char* p = begin;
    for (unsigned t = 1; t <= threads; ++t) {
        const char* const goal = begin + (end - begin) * Index(t) / Index(threads);
        const char* const cut = t == threads ? end : goal <= p ? p : next_row(p, goal);
        parts.push_back({p, cut, 0, 0});
        p = cut;
    }
    parallel(threads, [&](unsigned t) {
        Part& part = parts[t];
        part.rows = occurrences(part.begin, part.end, '\n');
        if (entry) part.entries = occurrences(part.begin, part.end, entry);
    });
    return parts;
}

// Moves what each part wrote, `width` values a row, so that it follows what the part before wrote.
template <class T>
void close_gaps(T* values, const std::vector<Index>& room, const std::vector<Index>& used, Index width = 1) {
    Index from = 0, to = 0;
    for (std::size_t t = 0; t < room.size(); ++t) {
        if (from != to) std::memmove(values + to, values + from, std::size_t(used[t] * width) * sizeof(T));
        from += room[t] * width;
        to += used[t] * width;
    }
}

}  // namespace streamsieve
