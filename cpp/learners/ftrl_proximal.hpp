// FTRL-Proximal, McMahan et al. (2013), Algorithm 1, per coordinate:
//   w = 0 where |z| <= l1, else -(z - sgn(z) l1) / (beta / eta + root + l2),
//   sigma = sqrt(root^2 + (g / eta)^2) - root,   z += g - sigma w,   root += sigma.
// With a constant eta, root is the paper's sqrt(n) / eta; a derived one may change from row to row.
//
// O(nnz q) per row: a weight is a function of its own z and root, so there is nothing to catch up.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/units.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

struct FtrlRule {
    double eta, beta, l1, l2;  // eta 0: to be derived
    bool intercept;
};

// Of a weight and of the intercept.
struct FtrlRates {
    double weight, bias;
};

// Of a feature and an output: z, and the root of the sum of (g / eta)^2.
struct FtrlSums {
    double z, root;
};

struct FtrlState {
    Clock& clock;
    Table<double> moments;  // of the features, if values are taken in their units
    FtrlSums* sums;         // (p, q)
    FtrlSums* bias;         // (q), of a feature that is always 1
    FtrlRates& least;       // beta / eta as of the last row
    double* targets;        // (q): sums of their squares
};

// eta, if derived in units of rms(y): 1 / (4 R), R^2 the mean squared norm of the rows, and for the intercept
// 1 / sqrt(1 + mean number of non-zeros). A derived beta is in units of the gradients, rms(y) rms(x): so
// neither the units of the rows nor those of the targets matter.
inline FtrlRates ftrl_rates(const FtrlRule& rule, const Clock& c, FtrlRates& least) {
    if (rule.eta > 0) {
        least = {rule.beta / rule.eta, rule.beta / rule.eta};
        return {rule.eta, rule.eta};
    }
    const double root = std::sqrt(1 + c.entries / c.rows);
    FtrlRates eta{1, 1 / root};
    least = {0, rule.beta * root};
    if (c.norms > 0) {  // else there were empty rows only
        eta.weight = 1 / (4 * std::sqrt(c.norms / c.rows));
        least.weight = rule.beta * std::sqrt(c.norms / c.entries) / eta.weight;
    }
    return eta;
}

inline double ftrl_weight(const FtrlSums& s, double l1, double below) {
    const double size = std::abs(s.z) - l1;
    return size > 0 ? -std::copysign(size / (below + s.root), s.z) : 0;
}

inline void ftrl_step(FtrlSums& s, double w, double g, double per_eta) {
    const double move = g * per_eta, after = std::sqrt(s.root * s.root + move * move);
    // where the square underflows, and with beta = 0, w would be z / 0
    const bool moves = g != 0 && after > 0;
    s.z += moves ? g - (after - s.root) * w : 0;
    s.root = moves ? after : s.root;
}

// The same for all entries of a row at once: weights w, and x'w.
STREAMSIEVE_CLONES inline double ftrl_weights(Index n, const double* x, const FtrlSums* sums, double l1,
                                              double below, double* w) {
    double m = 0;
#pragma omp simd reduction(+ : m)
    for (Index e = 0; e < n; ++e) {
        w[e] = ftrl_weight(sums[e], l1, below);
        m += x[e] * w[e];
    }
    return m;
}
STREAMSIEVE_CLONES inline void ftrl_steps(Index n, const double* x, double d, const double* w, double per_eta,
                                          FtrlSums* sums) {
#pragma omp simd
    for (Index e = 0; e < n; ++e) ftrl_step(sums[e], w[e], d * x[e], per_eta);
}

// The values of a row in the units of their features: over the root of their mean square.
inline const double* in_units(const Raw&, const double* x, Index, double*) {
    return x;
}
STREAMSIEVE_CLONES inline void ftrl_roots(Index n, const double* x, const double* u, double* to) {
#pragma omp simd
    for (Index e = 0; e < n; ++e) to[e] = std::copysign(std::sqrt(u[e] * x[e]), x[e]);
}
inline const double* in_units(const Moments& units, const double* x, Index n, double* to) {
    ftrl_roots(n, x, units.directions(), to);
    return to;
}

// Returns the number of rows learned: fewer than there are where the next square would overflow.
template <class Rows, class Q, class Units>
Index ftrl_proximal(const Rows& X, const Loss& loss, Q q, Units& units, const double* y, const double* weight,
                    const FtrlRule& rule, const FtrlState& state) {
    const std::size_t outputs = std::size_t(Index(q)), longest = std::size_t(X.longest());
    std::vector<double> scratch(4 * outputs + longest * (1 + outputs));
    double *m = scratch.data(), *d = m + q, *b = d + q, *per_eta = b + q, *room = per_eta + q;
    double* w = room + longest;                       // weights of the entries, output by output
    std::vector<FtrlSums> of_row(longest * outputs);  // likewise
    FtrlSums* const sums = of_row.data();
    Clock& clock = state.clock;
    const double limit = rule.eta > 0 ? 1e145 * std::min(rule.eta, 1.0) : 1e145;
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        const Norm norm = units.pass(row, r);
        clock.rows += 1;
        clock.weight += r;
        clock.norms += norm.square;
        clock.entries += norm.count;
        const FtrlRates eta = ftrl_rates(rule, clock, state.least);
        for (Index o = 0; o < q; ++o) {
            state.targets[o] += y[i * q + o] * y[i * q + o];
            const double rms = rule.eta > 0 ? 1 : std::sqrt(state.targets[o] / clock.rows);
            per_eta[o] = rms > 0 ? 1 / (eta.weight * rms) : 0;
            b[o] = ftrl_weight(state.bias[o], 0, state.least.bias);
        }
        for (Index e = 0; e < row.length; ++e) {
            const FtrlSums* at = state.sums + row.index(e) * q;
            for (Index o = 0; o < q; ++o) sums[o * Index(longest) + e] = at[o];
        }
        const double* x = in_units(units, row.x, row.length, room);
        for (Index o = 0; o < q; ++o) {
            const Index first = o * Index(longest);
            m[o] =
                ftrl_weights(row.length, x, sums + first, rule.l1, state.least.weight + rule.l2, w + first);
        }
        const double slope = slopes(loss, q, m, 1, b, y + i * q, r, d);
        if (!(slope * (1 + std::sqrt(norm.square)) < limit)) return i;
        for (Index o = 0; o < q; ++o) {
            if (per_eta[o] == 0) d[o] = 0;  // the squares of tiny targets underflow
            if (rule.intercept && d[o] != 0)
                ftrl_step(state.bias[o], b[o], d[o], per_eta[o] * (eta.weight / eta.bias));
        }
        if (slope == 0) continue;
        for (Index o = 0; o < q; ++o) {
            const Index first = o * Index(longest);
            ftrl_steps(row.length, x, d[o], w + first, per_eta[o], sums + first);
        }
        for (Index e = 0; e < row.length; ++e) {
            FtrlSums* at = state.sums + row.index(e) * q;
            for (Index o = 0; o < q; ++o) at[o] = sums[o * Index(longest) + e];
        }
    }
    return X.rows;
}

}  // namespace streamsieve
