// The rows of the store, as a linear operator on some of its columns, block by block.
//
// A block is up to R rows. `forward` adds sum_j x_ij beta_j of the block's rows to e, `backward` adds
// sum_i x_ij r_i to g. Both take c outputs. The blocks are cut into groups by the size of the work alone,
// each group has its own g, and these are added in order: the number of threads does not change a bit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/simd.hpp"

namespace streamsieve::sieve {

constexpr Index kMostRows = 128;  // of a tile
constexpr Index kAtOnce = 16;     // columns that go through all outputs together
constexpr Index kStrip = 64;      // columns whose products are summed in float before they go into a double

#if defined(__GNUC__)
#define STREAMSIEVE_INLINE [[gnu::always_inline]] inline
#else
#define STREAMSIEVE_INLINE inline
#endif

// sum[a * R + i] += the columns of a tile (R rows each) times beta[a * stride + j], for outputs a < O;
// `count` is a multiple of 4. With two outputs every value that is read is used twice.
template <Index O, class T>
STREAMSIEVE_INLINE void add_columns_of(const T* tile, Index R, const std::int32_t* columns, Index count,
                                       const float* beta, Index stride, float* sum) {
    for (Index j = 0; j < count; j += 4) {
        const T* x0 = tile + columns[j] * R;
        const T* x1 = tile + columns[j + 1] * R;
        const T* x2 = tile + columns[j + 2] * R;
        const T* x3 = tile + columns[j + 3] * R;
        const float *b = beta + j, *d = beta + (O - 1) * stride + j;
        const float b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
        float* last = sum + (O - 1) * R;
#pragma omp simd
        for (Index i = 0; i < R; ++i) {
            const float v0 = float(x0[i]), v1 = float(x1[i]), v2 = float(x2[i]), v3 = float(x3[i]);
            sum[i] += (b0 * v0 + b1 * v1) + (b2 * v2 + b3 * v3);
            if constexpr (O == 2) last[i] += (d0 * v0 + d1 * v1) + (d2 * v2 + d3 * v3);
        }
    }
}

// g[a * stride + j] += the products of four columns of a tile with r[a * R + i], for outputs a < O
template <Index O, class T>
STREAMSIEVE_INLINE void dot_columns_of(const T* tile, Index R, const std::int32_t* columns, const float* r,
                                       double* g, Index stride) {
    const T* x0 = tile + columns[0] * R;
    const T* x1 = tile + columns[1] * R;
    const T* x2 = tile + columns[2] * R;
    const T* x3 = tile + columns[3] * R;
    const float *q = r + (O > 1 ? R : 0), *p = r + (O > 2 ? 2 * R : 0);
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0, u0 = 0, u1 = 0, u2 = 0, u3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, t0, t1, t2, t3, u0, u1, u2, u3)
    for (Index i = 0; i < R; ++i) {
        const float v0 = float(x0[i]), v1 = float(x1[i]), v2 = float(x2[i]), v3 = float(x3[i]);
        s0 += r[i] * v0, s1 += r[i] * v1, s2 += r[i] * v2, s3 += r[i] * v3;
        if constexpr (O > 1) t0 += q[i] * v0, t1 += q[i] * v1, t2 += q[i] * v2, t3 += q[i] * v3;
        if constexpr (O > 2) u0 += p[i] * v0, u1 += p[i] * v1, u2 += p[i] * v2, u3 += p[i] * v3;
    }
    g[0] += double(s0), g[1] += double(s1), g[2] += double(s2), g[3] += double(s3);
    if constexpr (O > 1) {
        double* h = g + stride;
        h[0] += double(t0), h[1] += double(t1), h[2] += double(t2), h[3] += double(t3);
    }
    if constexpr (O > 2) {
        double* h = g + 2 * stride;
        h[0] += double(u0), h[1] += double(u1), h[2] += double(u2), h[3] += double(u3);
    }
}

// For each type of cell, all c outputs; few columns at a time, which stay in the first-level cache with what
// is summed.
#define STREAMSIEVE_TILE_KERNELS(T)                                                                         \
    STREAMSIEVE_CLONES inline void add_columns(const T* tile, Index R, const std::int32_t* columns,         \
                                               Index count, const float* beta, Index stride, float* sum,    \
                                               Index c) {                                                   \
        for (Index j = 0; j < count; j += kAtOnce) {                                                        \
            const Index m = std::min(kAtOnce, count - j);                                                   \
            Index a = 0;                                                                                    \
            for (; a + 1 < c; a += 2)                                                                       \
                add_columns_of<2>(tile, R, columns + j, m, beta + a * stride + j, stride, sum + a * R);     \
            if (a < c)                                                                                      \
                add_columns_of<1>(tile, R, columns + j, m, beta + a * stride + j, stride, sum + a * R);     \
        }                                                                                                   \
    }                                                                                                       \
    STREAMSIEVE_CLONES inline void dot_columns(const T* tile, Index R, const std::int32_t* columns,         \
                                               Index count, const float* r, double* g, Index stride,        \
                                               Index c) {                                                   \
        for (Index j = 0; j < count; j += 4) {                                                              \
            Index a = 0;                                                                                    \
            for (; a + 2 < c; a += 3)                                                                       \
                dot_columns_of<3>(tile, R, columns + j, r + a * R, g + a * stride + j, stride);             \
            if (a + 1 < c) dot_columns_of<2>(tile, R, columns + j, r + a * R, g + a * stride + j, stride);  \
            if (a + 1 == c) dot_columns_of<1>(tile, R, columns + j, r + a * R, g + a * stride + j, stride); \
        }                                                                                                   \
    }
STREAMSIEVE_TILE_KERNELS(float)
STREAMSIEVE_TILE_KERNELS(std::int8_t)
#undef STREAMSIEVE_TILE_KERNELS

// e += sum, sum = 0
STREAMSIEVE_CLONES inline void move_sums(float* sum, double* e, Index n) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) e[i] += double(sum[i]), sum[i] = 0;
}

// Values that an 8-bit code cannot hold: what is missing from the code, by tile.
struct Escapes {
    const std::int64_t* start = nullptr;  // (tiles + 1), or null where there are none
    const std::uint8_t* row = nullptr;    // within the tile
    const std::int32_t* column = nullptr;
    const float* value = nullptr;
};

// Tiles of R rows, each column by column: what stays of a tile when columns leave is still contiguous.
template <class T>
class Tiles {
  public:
    Tiles(const T* data, Index n, Index width, Index R, const std::int32_t* active, Index count, Index c,
          Escapes escapes = {})
        : data_(data),
          n_(n),
          width_(width),
          R_(R),
          c_(c),
          count_(count),
          escapes_(escapes),
          padded_((count + 3) / 4 * 4),
          columns_(active, active + count) {
        columns_.resize(std::size_t(padded_), count > 0 ? active[0] : 0);
        beta_.assign(std::size_t(padded_ * c), 0.0f);
        if (!escapes_.start) return;
        place_.assign(std::size_t(width), -1);
        for (Index j = 0; j < count; ++j) place_[std::size_t(active[j])] = std::int32_t(j);
    }
    Index rows() const { return n_; }
    Index block_rows() const { return R_; }
    Index blocks() const { return (n_ + R_ - 1) / R_; }
    Index work() const { return n_ * count_ * c_; }
    Index scratch() const { return padded_ * c_; }  // of g

    // beta[a * count + j], of the active columns
    void set(const double* beta) {
        for (Index a = 0; a < c_; ++a)
            for (Index j = 0; j < count_; ++j)
                beta_[std::size_t(a * padded_ + j)] = float(beta[a * count_ + j]);
    }
    // The active columns before column j of the store, in whole steps of 4.
    Index until(Index j) const {
        if (j >= width_) return padded_;
        const auto at = std::lower_bound(columns_.begin(), columns_.begin() + count_, std::int32_t(j));
        return std::min(padded_, (Index(at - columns_.begin()) + 3) / 4 * 4);
    }
    // e[a * R + i] += ..., of the active columns [from, to), of which the last call is up to the end. `sum`
    // (c * R, zero before the first) is what has not gone into e yet: where it goes depends on the columns
    // alone, not on the calls.
    void forward(Index block, Index from, Index to, float* sum, double* e) const {
        const T* tile = data_ + block * R_ * width_;
        while (from < to) {
            const Index stop = std::min(to, (from / kStrip + 1) * kStrip);
            add_columns(tile, R_, columns_.data() + from, stop - from, beta_.data() + from, padded_, sum, c_);
            if (stop % kStrip == 0 || stop == padded_) move_sums(sum, e, c_ * R_);
            from = stop;
        }
        if (to < padded_) return;
        each_escape(block, [&](Index i, Index j, float x) {
            for (Index a = 0; a < c_; ++a)
                e[a * R_ + i] += double(x) * double(beta_[std::size_t(a * padded_ + j)]);
        });
    }
    // g[a * padded + j] += ..., of the active columns [from, to)
    void backward(Index block, Index from, Index to, const float* r, double* g) const {
        const T* tile = data_ + block * R_ * width_;
        for (; from < to; from += kStrip) {
            const Index m = std::min(kStrip, to - from);
            dot_columns(tile, R_, columns_.data() + from, m, r, g + from, padded_, c_);
        }
        if (to < padded_) return;
        each_escape(block, [&](Index i, Index j, float x) {
            for (Index a = 0; a < c_; ++a) g[a * padded_ + j] += double(x) * double(r[a * R_ + i]);
        });
    }
    // out[a * count + j] from g
    void get(const double* g, double* out) const {
        for (Index a = 0; a < c_; ++a) std::copy(g + a * padded_, g + a * padded_ + count_, out + a * count_);
    }

  private:
    template <class F>
    void each_escape(Index block, F f) const {
        if (!escapes_.start) return;
        for (std::int64_t e = escapes_.start[block]; e < escapes_.start[block + 1]; ++e) {
            const std::int32_t j = place_[std::size_t(escapes_.column[e])];
            if (j >= 0) f(Index(escapes_.row[e]), Index(j), escapes_.value[e]);
        }
    }
    const T* data_;
    Index n_, width_, R_, c_, count_;
    Escapes escapes_;
    Index padded_;
    std::vector<std::int32_t> columns_, place_;
    std::vector<float> beta_;
};

// Sparse rows. Inactive columns have weight zero; what they add to g is never read.
class SparseRows {
  public:
    SparseRows(const std::int64_t* indptr, const std::int32_t* indices, const float* data, Index n,
               Index width, const std::int32_t* active, Index count, Index c)
        : indptr_(indptr),
          indices_(indices),
          data_(data),
          n_(n),
          width_(width),
          c_(c),
          count_(count),
          active_(active),
          beta_(std::size_t(width * c), 0.0f) {}
    Index rows() const { return n_; }
    Index block_rows() const { return kMostRows; }
    Index blocks() const { return (n_ + kMostRows - 1) / kMostRows; }
    Index work() const { return 8 * Index(indptr_[n_] - indptr_[0]) * c_; }  // a sparse value costs more
    Index scratch() const { return width_ * c_; }

    void set(const double* beta) {
        for (Index j = 0; j < count_; ++j)
            for (Index a = 0; a < c_; ++a)
                beta_[std::size_t(active_[j] * c_ + a)] = float(beta[a * count_ + j]);
    }
    Index until(Index j) const { return j >= width_ ? 1 : 0; }  // a row is walked at once
    void forward(Index block, Index from, Index to, float*, double* e) const {
        if (from == to) return;
        const Index first = block * kMostRows, last = std::min(first + kMostRows, n_);
        if (c_ == 1) {
            for (Index i = first; i < last; ++i) {
                double s = 0;
                for (std::int64_t at = indptr_[i]; at < indptr_[i + 1]; ++at)
                    s += double(data_[at]) * double(beta_[std::size_t(indices_[at])]);
                e[i - first] += s;
            }
            return;
        }
        for (Index i = first; i < last; ++i)
            for (std::int64_t at = indptr_[i]; at < indptr_[i + 1]; ++at) {
                const float* b = beta_.data() + indices_[at] * c_;
                const double x = double(data_[at]);
                for (Index a = 0; a < c_; ++a) e[a * kMostRows + i - first] += x * double(b[a]);
            }
    }
    void backward(Index block, Index from, Index to, const float* r, double* g) const {
        if (from == to) return;
        const Index first = block * kMostRows, last = std::min(first + kMostRows, n_);
        for (Index i = first; i < last; ++i)
            for (std::int64_t at = indptr_[i]; at < indptr_[i + 1]; ++at) {
                double* column = g + indices_[at] * c_;
                const double x = double(data_[at]);
                for (Index a = 0; a < c_; ++a) column[a] += x * double(r[a * kMostRows + i - first]);
            }
    }
    void get(const double* g, double* out) const {
        for (Index j = 0; j < count_; ++j)
            for (Index a = 0; a < c_; ++a) out[a * count_ + j] = g[active_[j] * c_ + a];
    }

  private:
    const std::int64_t* indptr_;
    const std::int32_t* indices_;
    const float* data_;
    Index n_, width_, c_, count_;
    const std::int32_t* active_;
    std::vector<float> beta_;
};

}  // namespace streamsieve::sieve
