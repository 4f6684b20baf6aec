// Coordinate descent on a Gram matrix, for min_b 1/2 b'Rb - b'r + sum_j P_j(b_j). The globally safe step of
// the penalised extractors: every update minimises over one coordinate exactly, so the objective never rises.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/simd.hpp"

namespace streamsieve {

// A penalty answers prox(j, z, d) = argmin_x 1/2 d x^2 - z x + P_j(x), with d > 0 and z of either sign, and,
// where the problem need not be convex, other(j, z, d): the second local minimum on that side. Of two equal
// minima it takes 0.

// P_j(x) = l1_j |x| + l2_j x^2 / 2: lasso, elastic net, adaptive lasso
struct L1L2 {
    const double *l1, *l2;
    static constexpr bool convex = true;
    double prox(Index j, double z, double d) const {
        const double over = std::abs(z) - l1[j];
        return over > 0 ? std::copysign(over / (d + l2[j]), z) : 0.0;
    }
};

// P_j(x) = integral_0^|x| (lam_j - t / gamma)_+ dt, Zhang (2010)
struct Mcp {
    const double* lam;
    double gamma;
    static constexpr bool convex = false;
    double value(Index j, double x) const {
        const double t = std::min(std::abs(x), gamma * lam[j]);
        return t * (lam[j] - t / (2 * gamma));
    }
    double prox(Index j, double z, double d) const {
        const double t = std::abs(z);
        if (gamma * d <= 1)  // concave up to the flat part: either 0 or the least squares value
            return t > lam[j] * std::sqrt(gamma * d) ? z / d : 0.0;
        if (t <= lam[j]) return 0.0;
        return t <= gamma * lam[j] * d ? std::copysign((t - lam[j]) / (d - 1 / gamma), z) : z / d;
    }
    double other(Index, double, double) const { return 0.0; }
};

// P_j'(x) = lam_j for x <= lam_j, (gamma lam_j - x)_+ / (gamma - 1) beyond, Fan and Li (2001)
struct Scad {
    const double* lambda;
    double gamma;
    static constexpr bool convex = false;
    double value(Index j, double z) const {
        const double lam = lambda[j], x = std::abs(z);
        if (x <= lam) return lam * x;
        if (x >= gamma * lam) return lam * lam * (gamma + 1) / 2;
        return (2 * gamma * lam * x - x * x - lam * lam) / (2 * (gamma - 1));
    }
    double prox(Index j, double z, double d) const {
        const double lam = lambda[j], t = std::abs(z), soft = std::max(t - lam, 0.0) / d;
        if ((gamma - 1) * d > 1) {
            if (soft <= lam) return std::copysign(soft, z) * (soft > 0);
            if (t > gamma * lam * d) return z / d;
            return std::copysign((t - gamma * lam / (gamma - 1)) / (d - 1 / (gamma - 1)), z);
        }
        // concave between lam and gamma lam: a minimum lies at either side, the lower one wins
        const double near = std::min(soft, lam), far = t / d;
        auto f = [&](double x) { return x * (d * x / 2 - t) + value(j, x); };
        const double x = far >= gamma * lam && f(far) < f(near) ? far : near;
        return x > 0 ? std::copysign(x, z) : 0.0;
    }
    double other(Index j, double z, double d) const {
        return std::copysign(std::min(std::max(std::abs(z) - lambda[j], 0.0) / d, lambda[j]), z);
    }
};

// A penalty with weights between lower_j <= 0 and upper_j >= 0. Where the scalar problem is convex the bound
// nearest to the free minimum is the answer; else the bound or the other local minimum, whichever is lower.
template <class Penalty>
struct Boxed {
    Penalty penalty;
    const double *lower, *upper;
    double clip(Index j, double x) const { return std::min(std::max(x, lower[j]), upper[j]); }
    double prox(Index j, double z, double d) const {
        const double free = penalty.prox(j, z, d), x = clip(j, free);
        if constexpr (Penalty::convex) {
            return x;
        } else {
            if (x == free) return x;
            const double y = clip(j, penalty.other(j, z, d));
            auto f = [&](double v) { return v * (d * v / 2 - z) + penalty.value(j, v); };
            return f(x) < f(y) ? x : y;
        }
    }
};

// g -= sum_i w[i] R[at[i]]. O(m p), bound by the memory traffic of m rows of R.
inline void subtract_rows(const double* R, Index p, const std::int64_t* at, const double* w, Index m,
                          double* g) {
    constexpr Index tile = 2048;  // of g, so that it stays in the first-level cache
    for (Index from = 0; from < p; from += tile) {
        const Index length = std::min(tile, p - from);
        Index i = 0;
        for (; i + 4 <= m; i += 4) {
            const double a[] = {-w[i], -w[i + 1], -w[i + 2], -w[i + 3]};
            axpy4(a, R + at[i] * p + from, R + at[i + 1] * p + from, R + at[i + 2] * p + from,
                  R + at[i + 3] * p + from, g + from, length);
        }
        for (; i < m; ++i) axpy(-w[i], R + at[i] * p + from, g + from, length);
    }
}

// g = r - sum_i w[i] R[at[i]], the gradient at a sparse b.
inline void residual(const double* R, Index p, const double* r, const std::int64_t* at, const double* w,
                     Index m, double* g) {
    std::copy_n(r, p, g);
    subtract_rows(R, p, at, w, m, g);
}

// One sweep over the coordinates `at` (m of them, in order); entries of A, g and b are those of at[i] where
// `packed`, else of the coordinate itself. Returns the largest move, times sqrt(A_jj), in standardised units.
template <bool packed, class Penalty>
double sweep_once(const double* A, Index p, const std::int64_t* at, Index m, const Penalty& penalty,
                  double* g, double* b) {
    double largest = 0;
    for (Index i = 0; i < m; ++i) {
        const Index j = at[i], own = packed ? i : j;
        const double* row = A + own * p;
        const double move = penalty.prox(j, g[own] + row[own] * b[own], row[own]) - b[own];
        if (move == 0) continue;
        b[own] += move;
        axpy(-move, row, g, p);
        largest = std::max(largest, std::abs(move) * std::sqrt(row[own]));
    }
    return largest;
}

// Sweeps over the coordinates in the model alone, on a copy of their m x m part of R: O(m^2) each.
class ActiveSweeps {
  public:
    // g and b at the end of up to `sweeps` of them, or once none moves by more than tol
    template <class Penalty>
    void run(const double* R, Index p, const std::int64_t* at, Index m, const Penalty& penalty, Index sweeps,
             double tol, double* g, double* b) {
        next_.clear();
        for (Index i = 0; i < m; ++i)
            if (b[at[i]] != 0) next_.push_back(at[i]);
        const Index n = Index(next_.size());
        if (n == 0 || 4 * n > p) return;  // a copy is not worth it
        if (next_ != active_) {
            active_ = next_;
            A_.resize(std::size_t(n * n));
            for (Index i = 0; i < n; ++i)
                for (Index j = 0; j < n; ++j)
                    A_[std::size_t(i * n + j)] = R[active_[std::size_t(i)] * p + active_[std::size_t(j)]];
        }
        g_.resize(std::size_t(n));
        b_.resize(std::size_t(n));
        for (Index i = 0; i < n; ++i) {
            g_[std::size_t(i)] = g[active_[std::size_t(i)]];
            b_[std::size_t(i)] = b[active_[std::size_t(i)]];
        }
        while (sweeps-- > 0)
            if (sweep_once<true>(A_.data(), n, active_.data(), n, penalty, g_.data(), b_.data()) <= tol)
                break;
        for (Index i = 0; i < n; ++i) {
            double& old = b[active_[std::size_t(i)]];
            const double now = b_[std::size_t(i)];
            b_[std::size_t(i)] = now - old;
            old = now;
        }
        subtract_rows(R, p, active_.data(), b_.data(), n, g);
    }

  private:
    std::vector<std::int64_t> active_, next_;
    std::vector<double> A_, g_, b_;
};

// Sweeps over the coordinates `at` (m of them, in order) until none moves by more than tol (times sqrt(R_jj),
// so in standardised units) or max_sweeps is reached; g = r - Rb and b are kept up to date. Between two of
// them, up to `inner` sweeps over what is in the model. Returns the number of sweeps and the last one's
// largest move. O(m) per sweep, and O(p) per coordinate that moves.
template <class Penalty>
std::pair<Index, double> descend(const double* R, Index p, const std::int64_t* at, Index m, Penalty penalty,
                                 Index max_sweeps, double tol, double* g, double* b) {
    constexpr Index inner = 50;
    double largest = 0;
    Index sweep = 0;
    ActiveSweeps active;
    while (sweep < max_sweeps) {
        if (sweep > 0) active.run(R, p, at, m, penalty, inner, tol, g, b);
        ++sweep;
        largest = sweep_once<false>(R, p, at, m, penalty, g, b);
        if (largest <= tol) break;
    }
    return {sweep, largest};
}

// The same over groups of coordinates: group i is member[first[i]], ..., member[first[i + 1] - 1]. Their
// block of R is at most the identity, whose majoriser each update minimises: the prox of the group's norm,
// along the group.
template <class Penalty>
std::pair<Index, double> descend_groups(const double* R, Index p, const std::int64_t* first,
                                        const std::int64_t* member, Index m, Penalty penalty,
                                        Index max_sweeps, double tol, double* g, double* b) {
    double largest = 0;
    Index sweep = 0;
    std::vector<double> move;
    while (sweep < max_sweeps) {
        ++sweep;
        largest = 0;
        for (Index i = 0; i < m; ++i) {
            const std::int64_t *begin = member + first[i], *end = member + first[i + 1];
            double norm = 0;
            for (auto j = begin; j != end; ++j) norm += (g[*j] + b[*j]) * (g[*j] + b[*j]);
            norm = std::sqrt(norm);
            const double share = norm > 0 ? penalty.prox(*begin, norm, 1.0) / norm : 0.0;
            move.clear();
            double moved = 0;
            for (auto j = begin; j != end; ++j) {  // all from the gradient before
                move.push_back(share * (g[*j] + b[*j]) - b[*j]);
                moved += move.back() * move.back();
            }
            if (moved == 0) continue;
            largest = std::max(largest, std::sqrt(moved));
            for (auto j = begin; j != end; ++j) {
                const double by = move[static_cast<std::size_t>(j - begin)];
                b[*j] += by;
                axpy(-by, R + *j * p, g, p);
            }
        }
        if (largest <= tol) break;
    }
    return {sweep, largest};
}

}  // namespace streamsieve
