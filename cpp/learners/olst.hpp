// What a row adds to second moments about their own mean, and what it tells a learner that begins later.
//
// With W the weight and mu the mean of the rows before, a row (x, y) of weight r adds v v' to the centred
// co-moments, v = sqrt(r W / (W + r)) (x - mu) (Welford): a rank-one update, exact however far from zero the
// data lie. The rows v are written out, to be added to a p x p matrix, and its inverse, many at a time.
#pragma once
#include <cmath>
#include <limits>

#include "core/linear.hpp"
#include "core/steps.hpp"

namespace streamsieve {

// Owned by Python; p features, q targets. `first` is the variance of a feature when it had just begun to
// vary; it is written once, and until then 0.
struct Averages {
    double* weight;
    double *mean, *square, *first;
    double *mean_y, *square_y;
    double* xy;
};

// O(p q) per row; writes v to out (rows, p) and its like for the targets to out_y (rows, q). Returns how many
// features have begun to vary.
template <class Rows>
Index innovations(const Rows& X, Index p, Index q, const double* y, const double* weight, bool intercept,
                  Averages a, double* out, double* out_y) {
    Index begun = 0;
    for (Index i = 0; i < X.rows; ++i, out += p, out_y += q, y += q) {
        const double r = weight ? weight[i] : 1, before = *a.weight, now = before + r, share = r / now;
        const double root = intercept ? std::sqrt(share * before) : std::sqrt(r);
        *a.weight = now;
        for (Index o = 0; o < q; ++o) {
            const double d = intercept ? y[o] - a.mean_y[o] : y[o];
            if (intercept) a.mean_y[o] += share * d;
            out_y[o] = root * d;
            a.square_y[o] += out_y[o] * out_y[o];
        }
        for (Index j = 0; j < p; ++j) out[j] = 0;
        const auto row = X[i];
        for (Index e = 0; e < row.length; ++e) out[row.index(e)] = row.value(e);
        for (Index j = 0; j < p; ++j) {
            const double d = intercept ? out[j] - a.mean[j] : out[j];
            if (intercept) a.mean[j] += share * d;
            out[j] = root * d;
            a.square[j] += out[j] * out[j];
        }
        for (Index j = 0; j < p; ++j) {
            // what rounding leaves of a constant column is no variation
            const double least = 8 * std::numeric_limits<double>::epsilon() * a.mean[j];
            if (a.first[j] > 0 || !(a.square[j] > now * least * least)) continue;
            a.first[j] = a.square[j] / now;
            ++begun;
        }
        for (Index o = 0; o < q; ++o)
            for (Index j = 0; j < p; ++j) a.xy[o * p + j] += out[j] * out_y[o];
    }
    return begun;
}

// Let units and clock see rows that are not learned, as the learner of at most k weights (all, if k = 0)
// would have. O(nnz) per row.
template <class Rows, class Units>
void measure(const Rows& X, Units& units, const double* weight, StepSize step, Index k) {
    for (Index i = 0; i < X.rows; ++i) {
        const double r = weight ? weight[i] : 1;
        const Norm norm = units.pass(X[i], r);
        step.next(k > 0 ? norm.truncated(k, 0) : norm, r, 1);
    }
}

}  // namespace streamsieve
