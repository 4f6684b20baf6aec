// Statistics of the columns of rows, mapped ones included, and rows taken out of others.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
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

// Values of a column that are far, one after the other: how many, the row of the first, that value, and sum
// and sum of squares of the differences from it. Five doubles of a NumPy array.
struct FarRun {
    double n, since, first, sum, squares;
    void add(double x) {
        const double d = x - first;
        n += 1;
        sum += d;
        squares += d * d;
    }
};

// The runs of all columns: how many there are, and the row with which the first of them began.
struct FarState {
    double columns, since;
};

// Adds the far values of rows, of which the first has number `row`, to the runs of their columns, and ends
// the run of a column with a value that is not far; zeros of columns without a centre are no values. `wait`
// is set for rows in which a value is twice as far, as the column was in the row before: it may be about to
// be set anew. Stops after a row that makes a run of `few`. Returns how many rows were read, and whether
// there is such a run. O(nnz).
template <class Rows>
std::pair<Index, bool> far_runs(const Rows& X, const double* center, const double* reach, double row,
                                double few, FarRun* runs, FarState& state, bool* wait) {
    for (Index i = 0; i < X.rows; ++i, row += 1) {
        bool whole = false;
        const bool none = state.columns == 0;
        X[i].each([&](Index j, double x) {
            FarRun& run = runs[j];
            const double distance = std::abs(x - center[j]);
            if (distance > reach[j]) {
                if (run.n == 0) {
                    run = {0, row, x, 0, 0};
                    state.columns += 1;
                }
                run.add(x);
                whole |= run.n >= few;
                wait[i] |= distance > 2 * reach[j] && run.n > 1 && run.since + run.n == row + 1;
            } else if (run.n > 0 && (x != 0 || center[j] != 0)) {
                run = {};
                state.columns -= 1;
            }
        });
        if (state.columns == 0 || none) state.since = state.columns == 0 ? 0 : row;
        if (whole) return {i + 1, true};
    }
    return {X.rows, false};
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
