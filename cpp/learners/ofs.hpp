// OFS (Wang et al. 2014, Algorithm 2): where y w'x <= 1, w = (1 - alpha eta) w + eta y x, projected on the
// ball of radius 1 / sqrt(alpha), of which the B largest stay; elsewhere only the shrinkage.
//
// Only the B kept weights are not zero: O(nnz q + touched log B) a row. Shrinkage and projection are one
// product each, of a scale that all weights share and that does not change their order.
#pragma once
#include <cmath>
#include <vector>

#include "core/heap.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

struct OfsRule {
    double eta, alpha;
    bool fit_intercept;
};

// Of the weights without their scale.
struct OfsNorm {
    double squares;                 // their sum, brought up to date by differences
    double last_squares, last_row;  // when it was last summed up anew, and the row then
};

struct OfsState {
    RowCount& clock;
    OfsNorm& norm;
    KeptHeap kept;
    const std::int32_t* place;
    Table<double> weight;  // (p, q), times scale
    double* scale;
    double* bias;  // (q)
};

template <class Rows, class Q>
Index ofs(const Rows& X, Q q, const double* y, const double* weight, const OfsRule& rule,
          const OfsState& state) {
    const double eta = rule.eta, alpha = rule.alpha;
    KeptHeap kept = state.kept;
    const Index budget = kept.room();
    OfsNorm& total = state.norm;
    double *v = state.weight.data, *scale = state.scale, *bias = state.bias;
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
        total.squares = 0;
        for (Index at = 0; at < kept.size(); ++at) total.squares += square(v + kept[at].j() * q);
        total.last_squares = total.squares;
        total.last_row = state.clock.rows;
    };
    for (Index i = 0; i < X.rows; ++i) {
        const double r = weight ? weight[i] : 1;
        Norm norm;
        const auto row = read_margins(X, i, r, q, units, v, m, norm);
        state.clock.add(r);
        if (alpha > 0) {
            // margins are of the weights before the shrinkage
            for (Index o = 0; o < q; ++o) d[o] = *scale * m[o] + bias[o];
            *scale *= 1 - eta * alpha;
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
        double whole = total.squares * *scale * *scale;  // squared norm of what is projected
        for (Index o = 0; o < q; ++o) {
            whole += d[o] * (2 * *scale * m[o] + d[o] * norm.square);
            if (rule.fit_intercept) bias[o] += d[o];
            d[o] /= *scale;
        }
        // The kept features of the row first: the threshold that the others must pass depends on them.
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            if (e + 24 < row.length) prefetch(state.place + row.index(e + 24));
            const Index where = kept.find(j);
            stepped[std::size_t(e)] = where >= 0;
            if (where < 0) continue;
            double* w = v + j * q;
            const double x = row.value(e);
            total.squares -= square(w);
            for (Index o = 0; o < q; ++o) w[o] += d[o] * x;
            total.squares += square(w);
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
                total.squares -= square(out);
                for (Index o = 0; o < q; ++o) out[o] = 0;
                kept.replace(0, now);
            } else {
                for (Index o = 0; o < q; ++o) w[o] = 0;
                continue;
            }
            total.squares += square(w);
        }
        if (alpha > 0 && whole * alpha > double(Index(q)))
            *scale *= std::sqrt(double(Index(q)) / (whole * alpha));
        // Differences lose digits: sum up anew, seldom enough that it costs O(1) a row.
        if (total.squares < 1e-3 * total.last_squares ||
            state.clock.rows >= total.last_row + std::max(64.0, double(kept.size())))
            sum_up();
    }
    return X.rows;
}

}  // namespace streamsieve
