// Kernels of the running averages. The statistics are one symmetric matrix, the sum over rows of r z z' with
// z = (x - c, y - c_y, 1) and r the row's weight; only its upper triangle (row-major) is kept. Dense rows are
// packed into a block that BLAS multiplies; sparse rows are added here, directly.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace streamsieve {

// block[i] = root[i] * (x_i - c, y_i - c_y, 1), with root the square roots of the row weights.
template <class T, class B>
void pack(const Strided<T>& X, const Strided<double>& y, const double* root, const double* center, B* block) {
    const Index p = X.cols, q = y.cols, m = p + q + 1;
    if (X.col_stride == 1) {
        for (Index i = 0; i < X.rows; ++i) {
            const T* x = X.data + i * X.row_stride;
            B* out = block + i * m;
            const double r = root[i];
#pragma omp simd
            for (Index j = 0; j < p; ++j) out[j] = B(r * (double(x[j]) - center[j]));
        }
    } else {  // column-major input: read along the columns
        for (Index j = 0; j < p; ++j)
            for (Index i = 0; i < X.rows; ++i) block[i * m + j] = B(root[i] * (double(X(i, j)) - center[j]));
    }
    for (Index i = 0; i < X.rows; ++i) {
        for (Index t = 0; t < q; ++t) block[i * m + p + t] = B(root[i] * (y(i, t) - center[p + t]));
        block[i * m + p + q] = B(root[i]);
    }
}

// Replaces each NaN by the mean of its column over the rows before it (0 where there is none), and counts.
// `sum` holds the columns' sums of r x so far, `weight` the sum of r; both move on with the rows.
template <class T>
void impute(T* X, Index rows, Index p, const double* r, double* sum, double& weight, std::int64_t* count) {
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < p; ++j) {
            T& x = X[i * p + j];
            if (std::isnan(x)) {
                x = weight > 0 ? T(sum[j] / weight) : T(0);
                ++count[j];
            }
            sum[j] += r[i] * double(x);
        }
        weight += r[i];
    }
}

template <class T, class I>
void impute(T* data, const Csr<T, I>& X, const double* r, double* sum, double& weight, std::int64_t* count) {
    for (Index i = 0; i < X.rows; ++i) {
        for (I e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            const I j = X.indices[e];
            if (std::isnan(data[e])) {
                data[e] = weight > 0 ? T(sum[j] / weight) : T(0);
                ++count[j];
            }
            sum[j] += r[i] * double(data[e]);
        }
        weight += r[i];
    }
}

// Adds sum_i r_i z_i z_i' of sparse rows to the upper triangle `moments` (m x m, row-major).
//
// The columns of z that are not sparse (y, the constant, and features with a centre) come as E, rows x e,
// with their positions in z in `where`; `sparse[j]` tells whether feature j is taken from the CSR row
// instead. E'E itself is left to the caller. The work is turned by feature: all rows that hold feature i add
// to row i of the matrix, which stays in the cache meanwhile; features are dealt out to threads, so that no
// two write to the same row. O(sum nnz^2 / 2 + nnz e) operations, plus one pass over the rows of `moments`
// touched.
template <class T, class I, class M>
void gram_csr(const Csr<T, I>& X, const double* r, const std::uint8_t* sparse, Index p, const double* E,
              const std::int64_t* where, Index e, M* moments, Index m, unsigned threads) {
    // The entries of the block by column: their row, and their offset from that row's first entry.
    struct Entry {
        std::int32_t row, offset;
    };
    const auto starts = std::make_unique<Index[]>(std::size_t(p) + 1);
    Index* start = starts.get();
    for (I a = X.indptr[0]; a < X.indptr[X.rows]; ++a) ++start[X.indices[a] + 1];
    std::partial_sum(start, start + p + 1, start);
    const auto holder = std::make_unique_for_overwrite<Entry[]>(std::size_t(start[p]));
    Entry* entries = holder.get();
    std::vector<Index> next(start, start + p);
    for (Index i = 0; i < X.rows; ++i)
        for (I a = X.indptr[i]; a < X.indptr[i + 1]; ++a)
            entries[next.data()[X.indices[a]]++] = {std::int32_t(i), std::int32_t(a - X.indptr[i])};

    parallel(threads, [&](unsigned t) {
        for (Index i = t; i < p; i += threads) {
            if (!sparse[i]) continue;
            M* row = moments + i * m;
            for (Index at = start[i]; at < start[i + 1]; ++at) {
                const Entry entry = entries[at];
                const I first = X.indptr[entry.row] + I(entry.offset), last = X.indptr[entry.row + 1];
                const double v = r[entry.row] * double(X.data[first]);
                for (I a = first; a < last; ++a)
                    if (sparse[X.indices[a]]) row[X.indices[a]] += M(v * double(X.data[a]));
                const double* extra = E + entry.row * e;
                for (Index d = 0; d < e; ++d) {
                    const Index j = where[d];
                    (j >= i ? row[j] : moments[j * m + i]) += M(v * extra[d]);
                }
            }
        }
    });
}

// out = the full symmetric p x p matrix ((moments_ij / weight - d_i d_j) scale_i scale_j), [Sun] eq. (3.3).
// copy[j] is set where column j follows from an earlier one: out_ij^2 > limit out_ii out_jj, i < j.
template <class M>
void standardize(const M* moments, Index m, Index p, double weight, const double* d, const double* scale,
                 double limit, double* out, std::uint8_t* copy) {
    constexpr Index tile = 64;
    const double over = 1 / weight;
    std::vector<double> variance(static_cast<std::size_t>(p));
    double* v = variance.data();
    for (Index j = 0; j < p; ++j)
        v[j] = (double(moments[j * m + j]) * over - d[j] * d[j]) * scale[j] * scale[j];
    for (Index bi = 0; bi < p; bi += tile)
        for (Index bj = bi; bj < p; bj += tile)
            for (Index i = bi; i < std::min(bi + tile, p); ++i) {
                const double di = d[i], si = scale[i];
                const Index j0 = std::max(i, bj), j1 = std::min(bj + tile, p);
                for (Index j = j0; j < j1; ++j)
                    out[i * p + j] = (double(moments[i * m + j]) * over - di * d[j]) * si * scale[j];
                bool close = false;
                const double most = limit * v[i];
                for (Index j = std::max(j0, i + 1); j < j1; ++j)
                    close |= out[i * p + j] * out[i * p + j] > most * v[j];
                for (Index j = j0; j < j1; ++j) out[j * p + i] = out[i * p + j];
                if (!close || copy[i]) continue;
                for (Index j = std::max(j0, i + 1); j < j1; ++j)
                    copy[j] |= out[i * p + j] * out[i * p + j] > most * v[j];
            }
}

}  // namespace streamsieve
