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

#include "parallel.hpp"
#include "rows.hpp"

namespace streamsieve {

// A strided matrix as NumPy hands it over; strides count elements.
template <class T>
struct Strided {
    const T* data;
    Index rows, cols, row_stride, col_stride;
    T operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

// What x is multiplied by so that it overflows beyond `limit`: the check for huge values then costs nothing.
template <class T>
T overflow_beyond(double limit) {
    return limit < double(std::numeric_limits<T>::max()) ? T(std::numeric_limits<T>::max() / T(limit)) : T(1);
}

template <class T>
bool is_bad(T x, bool nan_ok, double limit) {
    return std::isnan(x) ? !nan_ok : !(std::abs(double(x)) <= limit) || std::isinf(x);
}

// The first of n values that is not finite or beyond `limit` (NaN passes if `nan_ok`), or -1. A sum of 0 * x
// tells in one sweep.
template <class T>
Index first_bad(const T* v, Index n, Index step, bool nan_ok, double limit) {
    T zero = 0;
    const T big = overflow_beyond<T>(limit);
    if (step == 1) {
#pragma omp simd reduction(+ : zero)
        for (Index i = 0; i < n; ++i) zero += v[i] * big * T(0);
    } else {
        for (Index i = 0; i < n; ++i) zero += v[i * step] * big * T(0);
    }
    if (zero == T(0)) return -1;
    for (Index i = 0; i < n; ++i)
        if (is_bad(v[i * step], nan_ok, limit)) return i;
    return -1;
}

// Flat position (i * cols + j) of the first bad value of a matrix, or -1. One pass over memory, which bounds
// it.
template <class T>
Index first_bad(const Strided<T>& X, bool nan_ok, double limit) {
    const bool by_row = X.col_stride == 1 || X.cols == 1;
    const Index lines = by_row ? X.rows : X.cols, length = by_row ? X.cols : X.rows;
    const Index line = by_row ? X.row_stride : X.col_stride, step = by_row ? X.col_stride : X.row_stride;
    Index first = -1;
    for (Index l = 0; l < lines && !(by_row && first >= 0); ++l) {
        const Index i = first_bad(X.data + l * line, length, step, nan_ok, limit);
        const Index at = by_row ? l * X.cols + i : i * X.cols + l;
        if (i >= 0 && (first < 0 || at < first)) first = at;
    }
    return first;
}

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

// What is wrong with a CSR matrix of p columns, or with some rows of it: the first faulty entry and the
// reason.
enum class CsrFault { none, indptr, index, order, value };

template <class T, class I>
std::pair<CsrFault, Index> check_csr(const Csr<T, I>& X, Index from, Index to, Index nnz, Index p,
                                     bool nan_ok, double limit) {
    const T big = overflow_beyond<T>(limit);
    for (Index i = from; i < to; ++i) {
        if (X.indptr[i] < 0 || X.indptr[i + 1] < X.indptr[i] || Index(X.indptr[i + 1]) > nnz)
            return {CsrFault::indptr, i};
        const auto row = X[i];
        if (row.length == 0) continue;
        // Where indices ascend only the ends can be out of range; the sweep has no branch and no memory of
        // `last`.
        T zero = 0;
        I falls = 0;
#pragma omp simd reduction(+ : zero)
        for (Index e = 0; e < row.length; ++e) zero += row.x[e] * big * T(0);
#pragma omp simd reduction(| : falls)
        for (Index e = 1; e < row.length; ++e) falls |= I(row.j[e] <= row.j[e - 1]);
        if (zero == T(0) && !falls && row.j[0] >= 0 && Index(row.j[row.length - 1]) < p) continue;
        I last = -1;
        for (I e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            const I j = X.indices[e];
            if (j < 0 || Index(j) >= p) return {CsrFault::index, Index(e)};
            if (j <= last) return {CsrFault::order, Index(e)};
            last = j;
            if (is_bad(X.data[e], nan_ok, limit)) return {CsrFault::value, Index(e)};
        }
    }
    return {CsrFault::none, -1};
}

template <class T, class I>
std::pair<CsrFault, Index> check_csr(const Csr<T, I>& X, Index nnz, Index p, bool nan_ok, double limit,
                                     unsigned threads) {
    if (X.indptr[0] < 0 || Index(X.indptr[X.rows]) > nnz) return {CsrFault::indptr, 0};
    constexpr Index least = 1'000'000;  // entries that are worth a thread
    threads = unsigned(std::clamp(X.values() / least, Index(1), Index(threads)));
    std::vector<std::pair<CsrFault, Index>> found(threads);
    parallel(threads, [&](unsigned t) {
        found[t] =
            check_csr(X, share(X.rows, t, threads), share(X.rows, t + 1, threads), nnz, p, nan_ok, limit);
    });
    for (const auto& first : found)
        if (first.first != CsrFault::none) return first;
    return {CsrFault::none, -1};
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
