// The strongest of all pairs of features: T_ij = sum_ab (sum_rows r f_a(x_i) f_b(x_j))^2, f given by level.
//
// O(rows m^2 order^2 outputs / 2) multiply-adds for m features, by tiles of kWidth x kWidth functions; what
// is kept of a tile are its pairs above the cut, never T.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "effects/levels.hpp"

namespace streamsieve::effects {

constexpr Index kDeep = 128;            // rows of a panel: it stays in the second-level cache
constexpr Index kWidth = 768;           // functions of a panel: to fill it costs an eighth of its product
constexpr Index kTall = 6, kWide = 16;  // of the products that registers hold; both divide kWidth

// acc (kWidth, kWidth) += A'B for panels of kDeep rows, A in strips of kTall functions, B of kWide: for the
// first `tall` functions of A and `wide` of B, and of one panel with itself only what is right of the
// diagonal.
STREAMSIEVE_CLONES inline void multiply(const float* A, const float* B, Index tall, Index wide, bool same,
                                        float* acc) {
#if defined(__GNUC__)
    typedef float Vec __attribute__((vector_size(kWide * sizeof(float)), aligned(4), may_alias));
    for (Index w = 0; w < wide; w += kWide)
        for (Index s = 0; s < (same ? std::min(tall, w + kWide) : tall); s += kTall) {
            const float *a = A + s * kDeep, *b = B + w * kDeep;
            float* to = acc + s * kWidth + w;
            Vec c0{}, c1{}, c2{}, c3{}, c4{}, c5{};
            for (Index k = 0; k < kDeep; ++k, a += kTall, b += kWide) {
                const Vec v = *reinterpret_cast<const Vec*>(b);
                c0 += a[0] * v, c1 += a[1] * v, c2 += a[2] * v, c3 += a[3] * v, c4 += a[4] * v,
                    c5 += a[5] * v;
            }
            const auto put = [&](Index i, const Vec& c) { *reinterpret_cast<Vec*>(to + i * kWidth) += c; };
            put(0, c0), put(1, c1), put(2, c2), put(3, c3), put(4, c4), put(5, c5);
        }
#else
    for (Index w = 0; w < wide; w += kWide)
        for (Index s = 0; s < (same ? std::min(tall, w + kWide) : tall); s += kTall)
            for (Index k = 0; k < kDeep; ++k)
                for (Index i = 0; i < kTall; ++i)
                    for (Index j = 0; j < kWide; ++j)
                        acc[(s + i) * kWidth + w + j] +=
                            A[s * kDeep + k * kTall + i] * B[w * kDeep + k * kWide + j];
#endif
}

struct Sample {
    const std::uint8_t* codes;  // (all rows, p)
    Index p;
    const std::int64_t* rows;  // (n,)
    Index n;
    const std::int32_t* features;  // (m,)
    Index m;
    const float* table;  // (m, order, kLevels)
    Index order;
    const float* r;  // (outputs, n)
    Index outputs;
    Index threads;
    // Features of a tile: fewer where threads would have no tile.
    Index per_tile() const { return std::clamp<Index>((m + threads - 1) / threads, 1, kWidth / order); }
    Index width(Index first) const { return std::min(per_tile(), m - first) * order; }  // functions

    // Functions of the features from `first` on, rows from `row` on, in strips; times r where it is given.
    template <Index strip>
    void panel(Index first, Index row, const float* times, float* out) const {
        const Index deep = std::min(kDeep, n - row), all = width(first);
        for (Index begin = 0; begin < all; begin += strip, out += strip * kDeep) {
            Index feature[strip];
            const float* level[strip];
            for (Index i = 0; i < strip; ++i) {  // beyond the last one, the first again
                const Index column = first * order + (begin + i < all ? begin + i : 0);
                feature[i] = features[column / order], level[i] = table + column * kLevels;
            }
            for (Index k = 0; k < deep; ++k) {
                const std::uint8_t* code = codes + rows[row + k] * p;
                for (Index i = 0; i < strip; ++i) out[k * strip + i] = level[i][code[feature[i]]];
                if (times)
                    for (Index i = 0; i < strip; ++i) out[k * strip + i] *= times[row + k];
            }
            std::fill(out + deep * strip, out + kDeep * strip, 0.0f);
        }
    }
};

struct Pair {
    float T;
    std::int32_t i, j;  // places in `features`
    bool operator<(const Pair& o) const { return std::tie(o.T, i, j) < std::tie(T, o.i, o.j); }
};

// The pairs with T above the cut, at most the `most` largest, the strongest first. `tick` is called between
// tiles, on the calling thread; it may throw.
template <class F>
std::vector<Pair> scan(const Sample& x, double cut, Index most, const F& tick) {
    const auto threads = unsigned(x.threads);
    const Index each = x.per_tile(), tiles = (x.m + each - 1) / each, all = tiles * (tiles + 1) / 2;
    std::atomic<Index> next{0};
    std::atomic<bool> stop{false};
    std::vector<std::vector<Pair>> found(threads);
    parallel(threads, [&](unsigned thread) {
        std::vector<float> A(kWidth * kDeep), B(kWidth * kDeep), acc(kWidth * kWidth),
            T(std::size_t(each * each));
        auto& mine = found[thread];
        for (Index at = next++; at < all && !stop; at = next++) {
            Index u = 0, v = at;  // tile (u, u + v)
            for (; v >= tiles - u; ++u) v -= tiles - u;
            v += u;
            const Index high = std::min(each, x.m - u * each), across = std::min(each, x.m - v * each);
            std::fill(T.begin(), T.end(), 0.0f);
            for (Index c = 0; c < x.outputs; ++c) {
                std::fill(acc.begin(), acc.end(), 0.0f);
                for (Index row = 0; row < x.n; row += kDeep) {
                    x.panel<kTall>(u * each, row, x.r + c * x.n, A.data());
                    x.panel<kWide>(v * each, row, nullptr, B.data());
                    multiply(A.data(), B.data(), x.width(u * each), x.width(v * each), u == v, acc.data());
                }
                for (Index i = 0; i < high; ++i)
                    for (Index j = u == v ? i + 1 : 0; j < across; ++j)
                        for (Index a = 0; a < x.order; ++a)
                            for (Index b = 0; b < x.order; ++b) {
                                const float s =
                                    acc[std::size_t((i * x.order + a) * kWidth + j * x.order + b)];
                                T[std::size_t(i * each + j)] += s * s;
                            }
            }
            for (Index i = 0; i < high; ++i)
                for (Index j = u == v ? i + 1 : 0; j < across; ++j) {
                    const float value = T[std::size_t(i * each + j)];
                    if (value > cut)
                        mine.push_back({value, std::int32_t(u * each + i), std::int32_t(v * each + j)});
                }
            if (Index(mine.size()) > 2 * most) {
                std::nth_element(mine.begin(), mine.begin() + most, mine.end());
                mine.resize(std::size_t(most));
            }
            if (thread == 0) try {
                    tick();
                } catch (...) {
                    stop = true;
                    throw;
                }
        }
    });
    std::vector<Pair> out;
    for (const auto& part : found) out.insert(out.end(), part.begin(), part.end());
    std::sort(out.begin(), out.end());
    if (Index(out.size()) > most) out.resize(std::size_t(most));
    return out;
}

}  // namespace streamsieve::effects
