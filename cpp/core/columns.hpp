// Statistics of the columns of rows, mapped ones included, and rows taken out of others.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "core/rows.hpp"

namespace streamsieve {

// Adds to `out`, (p, 3 + q), of each column: its non-zeros, sum r x, sum r x^2 and, for each target, sum r x
// y. O(nnz q).
template <class Rows>
void column_sums(const Rows& X, const double* weight, const double* y, Index q, double* out) {
    for (Index i = 0; i < X.rows; ++i, y += q) {
        const double r = weight ? weight[i] : 1;
        X[i].each([&](Index j, double x) {
            double* to = out + j * (3 + q);
            to[0] += x != 0;
            to[1] += r * x;
            to[2] += r * (x * x);
            for (Index o = 0; o < q; ++o) to[3 + o] += r * x * y[o];
        });
    }
}

// How many values are further from the centre of their column than its reach. O(nnz).
template <class Rows>
Index count_far(const Rows& X, const double* center, const double* reach) {
    Index far = 0;
    for (Index i = 0; i < X.rows; ++i)
        X[i].each([&](Index j, double x) { far += std::abs(x - center[j]) > reach[j]; });
    return far;
}

// The sum over rows of their k largest squares. O(nnz).
template <class Rows>
double largest_squares(const Rows& X, Index k) {
    std::vector<double> squares;
    double total = 0;
    for (Index i = 0; i < X.rows; ++i) {
        squares.clear();
        X[i].each([&](Index, double x) { squares.push_back(x * x); });
        const Index n = std::min(k, Index(squares.size()));
        if (n < Index(squares.size()))
            std::nth_element(squares.begin(), squares.begin() + n, squares.end(), std::greater<>());
        for (Index e = 0; e < n; ++e) total += squares[std::size_t(e)];
    }
    return total;
}

// The rows `at` of X, one after the other; `indptr` tells where each goes.
template <class T, class I>
void take_rows(const Csr<T, I>& X, const std::int64_t* at, Index n, const I* indptr, I* indices, T* data) {
    for (Index i = 0; i < n; ++i) {
        const auto row = X[at[i]];
        std::copy_n(row.j, row.length, indices + indptr[i]);
        std::copy_n(row.x, row.length, data + indptr[i]);
    }
}

}  // namespace streamsieve
