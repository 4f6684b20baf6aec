// What is checked of every block of rows that comes in: finite values, and the structure of CSR.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace streamsieve {

// The largest magnitude that is neither infinite nor beyond `limit`.
template <class T>
T largest_within(double limit) {
    const T most = std::numeric_limits<T>::max();
    if (!(limit < double(most))) return most;
    return double(T(limit)) > limit ? std::nextafter(T(limit), T(0)) : T(limit);
}

template <class T>
bool is_bad(T x, bool nan_ok, double limit) {
    return std::isnan(x) ? !nan_ok : !(std::abs(double(x)) <= limit) || std::isinf(x);
}

// The first of n values that is not finite or beyond `limit` (NaN passes if `nan_ok`), or -1. No magnitude
// exceeds `bound`, which becomes infinite where it would have to be looked for.
template <class T>
Index first_bad(const T* v, Index n, Index step, bool nan_ok, double limit, double& bound) {
    if (step == 1) {
        const T largest = largest_magnitude(v, n);
        if (largest <= largest_within<T>(limit)) {
            bound = std::max(bound, double(largest));
            return -1;
        }
    }
    bound = INFINITY;
    for (Index i = 0; i < n; ++i)
        if (is_bad(v[i * step], nan_ok, limit)) return i;
    return -1;
}

// Flat position (i * cols + j) of the first bad value of a matrix, or -1. One pass over memory, which bounds
// it.
template <class T>
Index first_bad(const Strided<T>& X, bool nan_ok, double limit, double& bound) {
    const bool by_row = X.col_stride == 1 || X.cols == 1;
    const Index lines = by_row ? X.rows : X.cols, length = by_row ? X.cols : X.rows;
    const Index line = by_row ? X.row_stride : X.col_stride, step = by_row ? X.col_stride : X.row_stride;
    Index first = -1;
    for (Index l = 0; l < lines && !(by_row && first >= 0); ++l) {
        const Index i = first_bad(X.data + l * line, length, step, nan_ok, limit, bound);
        const Index at = by_row ? l * X.cols + i : i * X.cols + l;
        if (i >= 0 && (first < 0 || at < first)) first = at;
    }
    return first;
}

// What is wrong with a CSR matrix of p columns, or with some rows of it: the first faulty entry and the
// reason. No magnitude exceeds `bound` where there is no fault.
enum class CsrFault { none, indptr, index, order, value };
struct CsrCheck {
    CsrFault fault = CsrFault::none;
    Index at = -1;
    double bound = 0;
};

template <class T, class I>
CsrCheck check_csr(const Csr<T, I>& X, Index from, Index to, Index nnz, Index p, bool nan_ok, double limit) {
    const T most = largest_within<T>(limit);
    double bound = 0;
    for (Index i = from; i < to; ++i) {
        if (X.indptr[i] < 0 || X.indptr[i + 1] < X.indptr[i] || Index(X.indptr[i + 1]) > nnz)
            return {CsrFault::indptr, i, 0};
        const auto row = X[i];
        if (row.length == 0) continue;
        // where indices ascend only the ends can be out of range
        const T largest = largest_magnitude(row.x, row.length);
        if (largest <= most && ascending(row.j, row.length) && row.j[0] >= 0 &&
            Index(row.j[row.length - 1]) < p) {
            bound = std::max(bound, double(largest));
            continue;
        }
        bound = INFINITY;
        I last = -1;
        for (I e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            const I j = X.indices[e];
            if (j < 0 || Index(j) >= p) return {CsrFault::index, Index(e), 0};
            if (j <= last) return {CsrFault::order, Index(e), 0};
            last = j;
            if (is_bad(X.data[e], nan_ok, limit)) return {CsrFault::value, Index(e), 0};
        }
    }
    return {CsrFault::none, -1, bound};
}

template <class T, class I>
CsrCheck check_csr(const Csr<T, I>& X, Index nnz, Index p, bool nan_ok, double limit, unsigned threads) {
    if (X.indptr[0] < 0 || Index(X.indptr[X.rows]) > nnz) return {CsrFault::indptr, 0, 0};
    constexpr Index least = 1'000'000;  // entries that are worth a thread
    threads = unsigned(std::clamp(X.values() / least, Index(1), Index(threads)));
    std::vector<CsrCheck> found(threads);
    parallel(threads, [&](unsigned t) {
        found[t] =
            check_csr(X, share(X.rows, t, threads), share(X.rows, t + 1, threads), nnz, p, nan_ok, limit);
    });
    CsrCheck all;
    for (const CsrCheck& part : found) {
        if (part.fault != CsrFault::none) return part;
        all.bound = std::max(all.bound, part.bound);
    }
    return all;
}

}  // namespace streamsieve
