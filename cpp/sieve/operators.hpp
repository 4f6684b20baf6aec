// The rows of the store, as a linear operator on some of its columns, block by block.
//
// A block is up to R rows. `forward` adds sum_j x_ij beta_j of the block's rows to e, `backward` adds
// sum_i x_ij r_i to g. Both take c outputs. The blocks are cut into groups by the size of the work alone,
// each group has its own g, and these are added in order: the number of threads does not change a bit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tile_kernels.hpp"

namespace streamsieve::sieve {

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
          padded_(in_steps(count)),
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
    // The active columns before column j of the store, in whole steps.
    Index until(Index j) const {
        if (j >= width_) return padded_;
        const auto at = std::lower_bound(columns_.begin(), columns_.begin() + count_, std::int32_t(j));
        return std::min(padded_, in_steps(Index(at - columns_.begin())));
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
    static Index in_steps(Index columns) { return (columns + kStep - 1) / kStep * kStep; }
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

// Sparse rows. Inactive columns have weight zero; what they add to g is never read. Rows of weight zero, such
// as those of the fold that is left out, are passed over.
class SparseRows {
  public:
    SparseRows(const std::int64_t* indptr, const std::int32_t* indices, const float* data, Index n,
               Index width, const std::int32_t* active, Index count, Index c, const float* weight)
        : indptr_(indptr),
          indices_(indices),
          data_(data),
          n_(n),
          width_(width),
          c_(c),
          count_(count),
          active_(active),
          weight_(weight),
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
                if (left_out(i)) continue;
                double s[4] = {};  // of which none waits for the one before
                const auto product = [&](std::int64_t at) {
                    return double(data_[at]) * double(beta_[std::size_t(indices_[at])]);
                };
                std::int64_t at = indptr_[i];
                for (; at + 4 <= indptr_[i + 1]; at += 4)
                    for (std::int64_t q = 0; q < 4; ++q) s[q] += product(at + q);
                for (; at < indptr_[i + 1]; ++at) s[0] += product(at);
                e[i - first] += (s[0] + s[1]) + (s[2] + s[3]);
            }
            return;
        }
        for (Index i = first; i < last; ++i)
            for (std::int64_t at = indptr_[i]; at < indptr_[i + 1] && !left_out(i); ++at) {
                const float* b = beta_.data() + indices_[at] * c_;
                const double x = double(data_[at]);
                for (Index a = 0; a < c_; ++a) e[a * kMostRows + i - first] += x * double(b[a]);
            }
    }
    void backward(Index block, Index from, Index to, const float* r, double* g) const {
        if (from == to) return;
        const Index first = block * kMostRows, last = std::min(first + kMostRows, n_);
        if (c_ == 1) {
            for (Index i = first; i < last; ++i) {
                if (left_out(i)) continue;
                const double slope = double(r[i - first]);
                for (std::int64_t at = indptr_[i]; at < indptr_[i + 1]; ++at)
                    g[indices_[at]] += double(data_[at]) * slope;
            }
            return;
        }
        for (Index i = first; i < last; ++i)
            for (std::int64_t at = indptr_[i]; at < indptr_[i + 1] && !left_out(i); ++at) {
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
    bool left_out(Index i) const { return weight_ && weight_[i] == 0; }

    const std::int64_t* indptr_;
    const std::int32_t* indices_;
    const float* data_;
    Index n_, width_, c_, count_;
    const std::int32_t* active_;
    const float* weight_;
    std::vector<float> beta_;
};

}  // namespace streamsieve::sieve
