// OFS (Wang et al. 2014, Algorithm 2): where y w'x <= 1, w = (1 - lam eta) w + eta y x, projected on the ball
// of radius 1 / sqrt(lam), of which the B largest stay; elsewhere only the shrinkage.
//
// Only the B kept weights are not zero: O(nnz q + touched log B) a row. Shrinkage and projection are one
// product each, of a scale that all weights share and that does not change their order.
#pragma once
#include <cmath>
#include <vector>

#include "core/heap.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

// Numbers of a NumPy array: how many are kept; the sum of the squares of v, what it was when it was last
// summed up, and the row then.
struct OfsState {
    double kept, squares, before, row;
};

template <class Rows, class Q>
Index ofs(const Rows& X, Q q, const double* y, const double* weight, double eta, double lam, bool intercept,
          Clock* clock, Index budget, OfsState* state, KeptHeap kept, const std::int32_t* place, double* v,
          double* scale, double* bias) {
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    std::vector<char> stepped(std::size_t(X.longest()));  // entries whose feature was kept before the row
    Raw units;
    auto square = [&](const double* w) {
        double s = 0;
        for (Index o = 0; o < q; ++o) s += w[o] * w[o];
        return s;
    };
    auto size = [&](const double* w) { return q > 1 ? std::sqrt(square(w)) : std::abs(*w); };
    auto sum_up = [&] {
        state->squares = 0;
        for (Index at = 0; at < kept.size(); ++at) state->squares += square(v + kept[at].j() * q);
        state->before = state->squares;
        state->row = clock->rows;
    };
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        const Norm norm = margins(row, r, q, units, v, m);
        clock->rows += 1;
        clock->weight += r;
        if (lam > 0) {
            // margins are of the weights before the shrinkage
            for (Index o = 0; o < q; ++o) d[o] = *scale * m[o] + bias[o];
            *scale *= 1 - eta * lam;
            if (*scale < tiny_scale) {
                for (Index at = 0; at < kept.size(); ++at) {
                    double* w = v + kept[at].j() * q;
                    for (Index o = 0; o < q; ++o) w[o] *= *scale;
                    kept.set(at, size(w));
                }
                kept.order();
                for (Index o = 0; o < q; ++o) m[o] *= *scale;
                *scale = 1;
                sum_up();
            }
        } else {
            for (Index o = 0; o < q; ++o) d[o] = *scale * m[o] + bias[o];
        }
        bool any = false;
        for (Index o = 0; o < q; ++o) {
            const bool wrong = y[i * q + o] * d[o] <= 1;
            d[o] = wrong ? eta * r * y[i * q + o] : 0;
            any = any || wrong;
        }
        if (!any) continue;
        double whole = state->squares * *scale * *scale;  // squared norm of what is projected
        for (Index o = 0; o < q; ++o) {
            whole += d[o] * (2 * *scale * m[o] + d[o] * norm.square);
            if (intercept) bias[o] += d[o];
            d[o] /= *scale;
        }
        // The kept features of the row first: the threshold that the others must pass depends on them.
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            if (e + 24 < row.length) prefetch(place + row.index(e + 24));
            const Index where = kept.find(j);
            stepped[std::size_t(e)] = where >= 0;
            if (where < 0) continue;
            double* w = v + j * q;
            const double x = row.value(e);
            state->squares -= square(w);
            for (Index o = 0; o < q; ++o) w[o] += d[o] * x;
            state->squares += square(w);
            kept.rescore(where, size(w));
        }
        const double far = std::sqrt(square(d)) * (1 + 1e-12);
        for (Index e = 0; e < row.length; ++e) {
            const double x = row.value(e);
            if (x == 0 || (kept.size() >= budget && far * std::abs(x) < kept.top().score)) continue;
            if (stepped[std::size_t(e)]) continue;
            const Index j = row.index(e);
            double* w = v + j * q;
            for (Index o = 0; o < q; ++o) w[o] = d[o] * x;
            const Ranked now{size(w), double(j)};
            if (now.score > 0 && kept.size() < budget) {
                kept.push(now);
            } else if (now.score > 0 && better(now, kept.top())) {
                double* out = v + kept.top().j() * q;
                state->squares -= square(out);
                for (Index o = 0; o < q; ++o) out[o] = 0;
                kept.replace(0, now);
            } else {
                for (Index o = 0; o < q; ++o) w[o] = 0;
                continue;
            }
            state->squares += square(w);
        }
        if (lam > 0 && whole * lam > double(Index(q))) *scale *= std::sqrt(double(Index(q)) / (whole * lam));
        // Differences lose digits: sum up anew, seldom enough that it costs O(1) a row.
        if (state->squares < 1e-3 * state->before ||
            clock->rows >= state->row + std::max(64.0, double(kept.size())))
            sum_up();
    }
    return X.rows;
}

}  // namespace streamsieve
