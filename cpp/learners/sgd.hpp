// Stochastic gradient descent on loss(x'w + b, y) + lam/2 |w|^2, one row at a time.
//
// O(nnz q) per row. The weights are scale * v, so that the penalty is one product a row; v takes the scale in
// when that has become tiny: O(p q) every 115 / (eta lam) rows.
#pragma once
#include <cmath>
#include <vector>

#include "core/fields.hpp"
#include "core/linear.hpp"
#include "core/losses.hpp"
#include "core/steps.hpp"

namespace streamsieve {

constexpr double tiny_scale = 1e-50;

// d = r loss'(scale m + b, y) per output; the largest magnitude, NaN if any is.
template <class Q>
inline double slopes(const Loss& loss, Q q, const double* m, double scale, const double* bias,
                     const double* y, double r, double* d) {
    double most = 0;
    for (Index o = 0; o < q; ++o) {
        d[o] = r * loss.at(scale * m[o] + bias[o], y[o]).derivative;
        const double size = std::abs(d[o]);
        if (!(size <= most)) most = size;
    }
    return most;
}

struct SgdState {
    Clock& clock;
    Table<double> moments;  // of the features, if steps are in their units
    Table<double> weight;   // (p, q), times scale
    double* scale;
    double* bias;
};

// Returns the number of rows learned: fewer than there are where the next step would overflow.
template <class Rows, class Q, class Units, class W>
Index sgd(const Rows& X, const Loss& loss, Q q, Units& units, const double* y, const double* weight,
          StepSize step, const SgdState& state, W* v) {
    double *scale = state.scale, *bias = state.bias;
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    for (Index i = 0; i < X.rows; ++i) {
        const double r = weight ? weight[i] : 1;
        Norm norm;
        const auto row = read_margins(X, i, r, q, units, v, m, norm);
        const double slope = slopes(loss, q, m, *scale, bias, y + i * q, r, d);
        const auto eta = step.next(norm, r, loss.curvature);
        if (!eta.fits(slope, norm)) return i;
        if (step.lam > 0) {
            *scale *= 1 - eta.weights * step.lam;
            if (*scale < tiny_scale) {
                for (Index e = 0; e < state.weight.rows * q; ++e) weight_of(v[e]) *= *scale;
                *scale = 1;
            }
        }
        if (slope == 0) continue;
        for (Index o = 0; o < q; ++o) {
            bias[o] -= eta.bias * d[o];
            d[o] *= -eta.weights / *scale;
        }
        move(row, q, units, d, v);
    }
    return X.rows;
}

}  // namespace streamsieve
