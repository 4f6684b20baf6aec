// What the text parsers share: what can be wrong with a row, and where lines end.
#pragma once
#include <algorithm>
#include <vector>

#include "core/simd.hpp"
#include "text/number.hpp"

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
    weight,      // a negative weight
    left_out     // no target: the row is left out and counted
};

enum class Missing { error, keep, zero };

// What came of a text: rows written, entries written, rows skipped, and the first refusal.
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

}  // namespace streamsieve
