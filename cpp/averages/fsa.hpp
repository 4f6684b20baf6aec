// Online feature selection with annealing, [Sun] Alg. 4: gradient steps on 1/2 b'Rb - b'r while the features
// with the smallest weights are removed for good.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/simd.hpp"

namespace streamsieve {

// The m features still of interest of a symmetric matrix, packed or (before the first removal) in place.
class ActiveMatrix {
  public:
    ActiveMatrix(const double* R, Index p) : data_(R), stride_(p), size_(p) {}

    Index size() const { return size_; }

    // out[i] = (A b)_i for the rows listed. Every row goes through the same kernel, so that the rows of two
    // identical features give identical sums, and a tie between them stays a tie.
    void times(const double* b, const Index* rows, Index count, double* out) const {
        double sums[4];
        for (Index i = 0; i < count; i += 4) {
            const double* x[4];
            for (Index l = 0; l < 4; ++l) x[l] = data_ + rows[std::min(i + l, count - 1)] * stride_;
            dot4(x[0], x[1], x[2], x[3], b, sums, size_);
            for (Index l = 0; l < std::min<Index>(4, count - i); ++l) out[rows[i + l]] = sums[l];
        }
    }

    // Keeps the rows and columns listed (ascending). In place once packed: writes never overtake reads.
    void compact(const std::vector<Index>& keep) {
        const Index m = Index(keep.size());
        if (packed_.empty()) packed_.resize(std::size_t(m * m));
        double* out = packed_.data();
        for (Index i = 0; i < m; ++i) {
            const double* row = data_ + keep[std::size_t(i)] * stride_;
            for (Index j = 0; j < m; ++j) out[i * m + j] = row[keep[std::size_t(j)]];
        }
        data_ = out;
        stride_ = size_ = m;
    }

  private:
    const double* data_;
    Index stride_, size_;
    std::vector<double> packed_;
};

// The largest eigenvalue of a symmetric tridiagonal matrix (diagonal a, beside it b), by bisection.
inline double largest_eigenvalue(const std::vector<double>& a, const std::vector<double>& b) {
    double low = a[0], high = a[0];
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double radius = (i ? b[i - 1] : 0) + (i + 1 < a.size() ? b[i] : 0);
        low = std::max(low, a[i]);
        high = std::max(high, a[i] + radius);
    }
    for (int round = 0; round < 60; ++round) {
        const double x = low + (high - low) / 2;
        bool above = false;  // does any eigenvalue exceed x? A positive pivot of T - x says so
        double pivot = 0;
        for (std::size_t i = 0; i < a.size() && !above; ++i) {
            pivot = a[i] - x - (i ? b[i - 1] * b[i - 1] / pivot : 0);
            above = pivot >= 0;
        }
        (above ? low : high) = x;
    }
    return high;
}

// Upper estimate of the largest eigenvalue by `rounds` Lanczos steps: Ritz value plus the norm of its
// residual (Zhou and Li, 2011). O(rounds m^2). Power iteration, at the same price, can stay a tenth below
// where the top of the spectrum is crowded, and a step taken from it diverges.
inline double largest_eigenvalue(const ActiveMatrix& A, const std::vector<Index>& rows, Index rounds) {
    const Index m = A.size();
    const auto n = [](Index i) { return static_cast<std::size_t>(i); };
    std::vector<double> v(n(m)), before(n(m)), w(n(m)), a, b;
    // The start leans neither to the constant vector nor away from it.
    for (const Index i : rows) v[n(i)] = 0.1 + std::fmod(0.6180339887498949 * double(i + 1), 1.0);
    double norm = std::sqrt(dot(v.data(), v.data(), m));
    for (double& x : v) x /= norm;
    norm = 0;
    rounds = std::min(rounds, Index(rows.size()));
    for (Index round = 0; round < rounds; ++round) {
        A.times(v.data(), rows.data(), Index(rows.size()), w.data());
        a.push_back(dot(v.data(), w.data(), m));
        axpy(-a.back(), v.data(), w.data(), m);
        axpy(-norm, before.data(), w.data(), m);
        norm = std::sqrt(dot(w.data(), w.data(), m));
        b.push_back(norm);
        if (norm <= 1e-10 * a[0]) break;  // an invariant subspace: the Ritz value is an eigenvalue
        for (Index i = 0; i < m; ++i) {
            before[n(i)] = v[n(i)];
            v[n(i)] = w[n(i)] / norm;
        }
        for (const Index i : rows) w[n(i)] = 0;
    }
    const double top = largest_eigenvalue(a, b);
    // The residual is |b_last s_last|, s the eigenvector of the tridiagonal matrix: from its last entry up,
    // the way it grows, so that rounding does not.
    double after = 0, s = 1, square = 1;
    for (std::size_t i = a.size() - 1; i > 0; --i) {
        const double next = ((top - a[i]) * s - (i + 1 < a.size() ? b[i] * after : 0)) / b[i - 1];
        after = s;
        s = next;
        square += s * s;
    }
    return top + b.back() / std::sqrt(square);
}

inline double largest_eigenvalue(const double* R, Index p, const std::int64_t* active, Index m,
                                 Index rounds) {
    return largest_eigenvalue(ActiveMatrix(R, p), std::vector<Index>(active, active + m), rounds);
}

// Constraints of `ofsa`; null for none. Bounds are q x p.
struct Limits {
    const double *factor, *lower, *upper;
    const std::int64_t* group;
};

// Runs the T = `steps` steps of Alg. 4; after step t the keep[t] features with the largest weights (row norms
// over q targets, ties by the lower index) stay. `active` lists the m features to begin with, ascending, and
// holds the survivors in front on return, as many as that; r and beta are q x m, in the order of `active`.
// The step is `eta`, or where that is 0, `relaxation` over the largest eigenvalue, estimated anew as the set
// shrinks (removal can only lower it); `used` receives the step of every t.
//
// With groups, numbered below p, keep[t] counts groups, which go by the norm of their weights. Weights are
// divided by their factors to be compared (factor 0 stays), and clipped to their bounds after each step.
//
// O(q sum_t M_t^2) operations, nearly all of them the product R b, which streams the active part of R; the
// matrix is packed again whenever a tenth of it has gone, 5 p^2 moves in all. Memory: 0.81 p^2.
inline Index ofsa(const double* R, Index p, const double* r, Index q, const std::int64_t* keep, Index steps,
                  double eta, double relaxation, const Limits& limits, std::int64_t* active, Index m,
                  double* beta, double* used) {
    constexpr double shrunk = 0.9, estimate_again = 0.75;
    constexpr Index lanczos = 16;
    const bool fixed = eta > 0;
    const auto n = [](Index i) { return static_cast<std::size_t>(i); };

    ActiveMatrix A(R, p);
    std::vector<Index> live(active, active + m), feature(n(p));
    std::iota(feature.begin(), feature.end(), Index(0));
    std::vector<double> b(n(q * p)), target(n(q * p)), gradient(n(p)), score(n(p));
    for (Index t = 0; t < q; ++t)
        for (Index i = 0; i < m; ++i) target[n(t * p + live[n(i)])] = r[t * m + i];

    auto pack = [&] {  // vectors follow the matrix: entry i moves to the place of the i-th survivor
        const Index before = A.size(), after = Index(live.size());
        A.compact(live);
        for (Index t = 0; t < q; ++t)
            for (Index i = 0; i < after; ++i) {
                b[n(t * after + i)] = b[n(t * before + live[n(i)])];
                target[n(t * after + i)] = target[n(t * before + live[n(i)])];
            }
        for (Index i = 0; i < after; ++i) feature[n(i)] = feature[n(live[n(i)])];
        std::iota(live.begin(), live.end(), Index(0));
    };
    if (m < p) pack();
    double bound = fixed ? 0 : largest_eigenvalue(A, live, lanczos);
    Index estimated = A.size();

    // What is compared: features or groups, by their number before any packing.
    const auto unit = [&](Index i) {
        return limits.group ? Index(limits.group[feature[n(i)]]) : feature[n(i)];
    };
    std::vector<Index> units, order;
    std::vector<char> listed(n(p));
    for (const Index i : live)
        if (!std::exchange(listed[n(unit(i))], 1)) units.push_back(unit(i));
    // Worse: the smaller weight; of two equal ones, the higher index.
    const auto worse = [&](Index i, Index j) {
        return score[n(i)] != score[n(j)] ? score[n(i)] < score[n(j)] : i > j;
    };
    const bool squares = q > 1 || limits.group;
    for (Index step = 0; step < steps; ++step) {
        if (!fixed) eta = bound > 0 ? relaxation / bound : 0;
        used[step] = eta;
        const Index size = A.size();
        for (const Index u : units) score[n(u)] = 0;
        for (Index t = 0; t < q; ++t) {
            double* bt = b.data() + t * size;
            const double* rt = target.data() + t * size;
            A.times(bt, live.data(), Index(live.size()), gradient.data());
            for (const Index i : live) {
                bt[i] -= eta * (gradient[n(i)] - rt[i]);
                if (limits.lower) {
                    const Index j = t * p + feature[n(i)];
                    bt[i] = std::min(std::max(bt[i], limits.lower[j]), limits.upper[j]);
                }
                score[n(unit(i))] += squares ? bt[i] * bt[i] : std::fabs(bt[i]);
            }
        }
        const Index drop = Index(units.size()) - Index(keep[step]);
        if (drop <= 0) continue;
        if (limits.factor) {
            std::fill(listed.begin(), listed.end(), char(0));
            for (const Index i : live) {
                const Index u = unit(i);
                if (std::exchange(listed[n(u)], 1)) continue;
                const double factor = limits.factor[feature[n(i)]];
                score[n(u)] = factor > 0 ? score[n(u)] / (squares ? factor * factor : factor)
                                         : std::numeric_limits<double>::infinity();
            }
        }
        order = units;
        std::nth_element(order.begin(), order.begin() + (drop - 1), order.end(), worse);
        const Index last = order[n(drop - 1)];  // the best of those to go
        const auto gone = [&](Index u) { return u == last || worse(u, last); };
        std::erase_if(live, [&](Index i) {
            if (!gone(unit(i))) return false;
            for (Index t = 0; t < q; ++t) b[n(t * size + i)] = 0;
            return true;
        });
        std::erase_if(units, gone);
        if (double(live.size()) > shrunk * double(size) || live.empty()) continue;
        pack();
        if (fixed || double(A.size()) > estimate_again * double(estimated)) continue;
        bound = std::min(bound, largest_eigenvalue(A, live, lanczos));
        estimated = A.size();
    }
    const Index left = Index(live.size()), size = A.size();
    for (Index i = 0; i < left; ++i) active[i] = feature[n(live[n(i)])];
    for (Index t = 0; t < q; ++t)
        for (Index i = 0; i < left; ++i) beta[t * m + i] = b[n(t * size + live[n(i)])];
    return left;
}

}  // namespace streamsieve
