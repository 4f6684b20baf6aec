// Values as 8-bit levels: the number of edges of its feature that a value has reached, or `kMissing` for NaN.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace streamsieve::effects {

constexpr Index kLevels = 64;
constexpr Index kEdges = kLevels - 1;  // of a feature, ascending; unused ones, and the last, are infinite
constexpr std::uint8_t kMissing = kLevels - 1;
constexpr Index kColumns = 32;       // that are read together: their counts stay in the cache
constexpr double kLargest = 0x1p36;  // of a value in units of the sums: no sum of 2^27 rows overflows

// What is known of each feature. Sums are whole numbers of small units, so that their order does not matter.
struct Features {
    Index p;
    const double *edges, *origin, *inverse;  // (p, kEdges), (p,), (p,)
    std::int64_t *count, *sum;               // (p, kLevels)

    std::uint8_t level(Index j, double x) const {
        if (x != x) return kMissing;
        const double* e = edges + j * kEdges;
        Index at = 0;
        for (Index step = kLevels / 2; step; step /= 2) at += step * (e[at + step - 1] <= x);  // no branch
        return std::uint8_t(at);
    }
    std::uint8_t add(Index j, double x) const {
        const std::uint8_t at = level(j, x);
        ++count[j * kLevels + at];
        if (at != kMissing) sum[j * kLevels + at] += units(j, x);
        return at;
    }
    std::int64_t units(Index j, double x) const {
        return std::llrint(std::clamp((x - origin[j]) * inverse[j], -kLargest, kLargest));
    }
};

// codes (n, p) of all rows, which are added to counts and sums. O(n p), six comparisons a value.
template <class T>
void bin(const Dense<T>& X, const Features& f, std::uint8_t* codes, unsigned threads) {
    const Index blocks = (f.p + kColumns - 1) / kColumns;
    parallel(threads, [&](unsigned t) {
        for (Index b = share(blocks, t, threads); b < share(blocks, t + 1, threads); ++b)
            for (Index i = 0; i < X.rows; ++i)
                for (Index j = b * kColumns; j < std::min(f.p, (b + 1) * kColumns); ++j)
                    codes[i * f.p + j] = f.add(j, double(X.data[i * X.stride + j]));
    });
}

// The same for sparse rows; a column without an entry holds zero.
template <class T>
void bin(const Csr<T, std::int32_t>& X, const Features& f, std::uint8_t* codes, unsigned) {
    std::vector<std::uint8_t> zero(std::size_t(f.p));
    std::vector<std::int64_t> absent(std::size_t(f.p), X.rows);
    for (Index j = 0; j < f.p; ++j) zero[std::size_t(j)] = f.level(j, 0.0);
    for (Index i = 0; i < X.rows; ++i) {
        std::uint8_t* row = codes + i * f.p;
        std::copy(zero.begin(), zero.end(), row);
        X[i].each([&](Index j, double x) {
            row[j] = f.add(j, x);
            --absent[std::size_t(j)];
        });
    }
    for (Index j = 0; j < f.p; ++j) {
        const Index at = j * kLevels + zero[std::size_t(j)], n = absent[std::size_t(j)];
        f.count[at] += n;
        f.sum[at] += n * f.units(j, 0.0);
    }
}

// Puts row order[i] of (n, p) codes at place i, in place; `order` becomes 0, 1, ...
inline void permute(std::uint8_t* codes, Index p, std::int64_t* order, Index n) {
    std::vector<std::uint8_t> held(static_cast<std::size_t>(p));
    for (Index i = 0; i < n; ++i) {
        if (order[i] == i) continue;
        std::memcpy(held.data(), codes + i * p, std::size_t(p));
        Index to = i;
        for (Index from = Index(order[to]); from != i; from = Index(order[to])) {
            std::memcpy(codes + to * p, codes + from * p, std::size_t(p));
            order[to] = to;
            to = from;
        }
        std::memcpy(codes + to * p, held.data(), std::size_t(p));
        order[to] = to;
    }
}

// sums (p, kLevels, c) of r (n, c) by feature and level, of n of the rows. O(n p c).
inline void level_sums(const std::uint8_t* codes, const std::int64_t* rows, Index n, Index p, const double* r,
                       Index c, double* sums, unsigned threads) {
    const Index blocks = (p + kColumns - 1) / kColumns;
    parallel(threads, [&](unsigned t) {
        for (Index b = share(blocks, t, threads); b < share(blocks, t + 1, threads); ++b)
            for (Index i = 0; i < n; ++i)
                for (Index j = b * kColumns; j < std::min(p, (b + 1) * kColumns); ++j) {
                    double* to = sums + (j * kLevels + codes[rows[i] * p + j]) * c;
                    for (Index a = 0; a < c; ++a) to[a] += r[i * c + a];
                }
    });
}

// Columns that belong together: functions of one feature, or products of the functions of two.
struct Term {
    std::int64_t i, first, width;      // place of the feature, of its table, and number of functions
    std::int64_t j, first_j, width_j;  // of the other feature; width_j is 0 where there is none
};

// out (n, d): the columns of all terms, times a number for each row. O(n d).
inline void columns(const std::uint8_t* codes, Index n, Index p, const Term* terms, Index m,
                    const float* table, const float* times, float* out) {
    for (Index k = 0; k < n; ++k) {
        const std::uint8_t* code = codes + k * p;
        for (const Term* t = terms; t != terms + m; ++t) {
            const float* a = table + t->first + code[t->i] * t->width;
            const float* b = t->width_j ? table + t->first_j + code[t->j] * t->width_j : nullptr;
            for (Index u = 0; u < t->width; ++u) {
                const float value = a[u] * times[k];
                if (!b) *out++ = value;
                for (Index v = 0; v < t->width_j; ++v) *out++ = value * b[v];
            }
        }
    }
}

}  // namespace streamsieve::effects
