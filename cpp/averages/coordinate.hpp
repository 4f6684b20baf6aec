// Coordinate descent on a Gram matrix, for min_b 1/2 b'Rb - b'r + sum_j P_j(b_j). The globally safe step of
// the penalised extractors: every update minimises over one coordinate exactly, so the objective never rises.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/simd.hpp"

namespace streamsieve {

// A penalty answers prox(j, z, d) = argmin_x 1/2 d x^2 - z x + P_j(x), with d > 0 and z of either sign.
// Of two equal minima it takes 0.

// P_j(x) = l1_j |x| + l2 x^2 / 2: lasso, elastic net, adaptive lasso
struct L1L2 {
    const double* l1;
    double l2;
    double prox(Index j, double z, double d) const {
        const double over = std::abs(z) - l1[j];
        return over > 0 ? std::copysign(over / (d + l2), z) : 0.0;
    }
};

// P(x) = integral_0^|x| (lam - t / gamma)_+ dt, Zhang (2010)
struct Mcp {
    double lam, gamma;
    double prox(Index, double z, double d) const {
        const double t = std::abs(z);
        if (gamma * d <= 1)  // concave up to the flat part: either 0 or the least squares value
            return t > lam * std::sqrt(gamma * d) ? z / d : 0.0;
        if (t <= lam) return 0.0;
        return t <= gamma * lam * d ? std::copysign((t - lam) / (d - 1 / gamma), z) : z / d;
    }
};

// P'(x) = lam for x <= lam, (gamma lam - x)_+ / (gamma - 1) beyond, Fan and Li (2001)
struct Scad {
    double lam, gamma;
    double value(double x) const {
        if (x <= lam) return lam * x;
        if (x >= gamma * lam) return lam * lam * (gamma + 1) / 2;
        return (2 * gamma * lam * x - x * x - lam * lam) / (2 * (gamma - 1));
    }
    double prox(Index, double z, double d) const {
        const double t = std::abs(z), soft = std::max(t - lam, 0.0) / d;
        if ((gamma - 1) * d > 1) {
            if (soft <= lam) return std::copysign(soft, z) * (soft > 0);
            if (t > gamma * lam * d) return z / d;
            return std::copysign((t - gamma * lam / (gamma - 1)) / (d - 1 / (gamma - 1)), z);
        }
        // concave between lam and gamma lam: a minimum lies at either side, the lower one wins
        const double near = std::min(soft, lam), far = t / d;
        auto f = [&](double x) { return x * (d * x / 2 - t) + value(x); };
        const double x = far >= gamma * lam && f(far) < f(near) ? far : near;
        return x > 0 ? std::copysign(x, z) : 0.0;
    }
};

// Sweeps over the coordinates `at` (m of them, in order) until none moves by more than tol (times sqrt(R_jj),
// so in standardised units) or max_sweeps is reached; g = r - Rb and b are kept up to date. Returns the
// number of sweeps and the last sweep's largest move. O(m) per sweep, and O(p) per coordinate that moves.
template <class Penalty>
std::pair<Index, double> descend(const double* R, Index p, const std::int64_t* at, Index m, Penalty penalty,
                                 Index max_sweeps, double tol, double* g, double* b) {
    double largest = 0;
    Index sweep = 0;
    while (sweep < max_sweeps) {
        ++sweep;
        largest = 0;
        for (Index i = 0; i < m; ++i) {
            const Index j = at[i];
            const double* row = R + j * p;
            const double move = penalty.prox(j, g[j] + row[j] * b[j], row[j]) - b[j];
            if (move == 0) continue;
            b[j] += move;
            axpy(-move, row, g, p);
            largest = std::max(largest, std::abs(move) * std::sqrt(row[j]));
        }
        if (largest <= tol) break;
    }
    return {sweep, largest};
}

// g = r - sum_i w[i] R[at[i]], the gradient at a sparse b. O(m p), bound by the memory traffic of m rows of
// R.
inline void residual(const double* R, Index p, const double* r, const std::int64_t* at, const double* w,
                     Index m, double* g) {
    constexpr Index tile = 2048;  // of g, so that it stays in the first-level cache
    for (Index from = 0; from < p; from += tile) {
        const Index length = std::min(tile, p - from);
        std::copy_n(r + from, length, g + from);
        Index i = 0;
        for (; i + 4 <= m; i += 4) {
            const double a[] = {-w[i], -w[i + 1], -w[i + 2], -w[i + 3]};
            axpy4(a, R + at[i] * p + from, R + at[i + 1] * p + from, R + at[i + 2] * p + from,
                  R + at[i + 3] * p + from, g + from, length);
        }
        for (; i < m; ++i) axpy(-w[i], R + at[i] * p + from, g + from, length);
    }
}

}  // namespace streamsieve
