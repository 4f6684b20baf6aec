// SOFS (Wu et al. 2017): diagonal AROW, of which the B weights with the smallest variance S stay. Where
// y w'x < 1: a = (1 - y w'x) / (x'S x + gamma), w += a y S x, S_j = 1 / (1 / S_j + x_j^2 / gamma).
//
// A variance changes only where it is touched, and only falls: whoever is not kept can enter only then, and
// a heap of the kept is all it takes. O(nnz q + touched log B) a row. S_j = 1 / (1 + P_j), and P, the
// precision gained, is what is stored and ranked by: a sum, which is not rounded away while it is small.
#pragma once
#include <cmath>
#include <vector>

#include "core/fields.hpp"
#include "core/heap.hpp"
#include "core/rows.hpp"
#include "core/steps.hpp"

namespace streamsieve {

struct SofsRule {
    double gamma;
    bool fit_intercept;
};

struct SofsState {
    RowCount& clock;
    KeptHeap kept;
    Table<double> weight;           // (p, 2 q): the precision gained and the weight, for each output
    double *bias, *bias_precision;  // (q)
};

// x'S x, and the largest of S |x|, of features with these precisions; `more` is the precision that each entry
// of a row of weight r gains.
STREAMSIEVE_CLONES inline void sofs_spread(Index n, const double* x, const double* precision, double r,
                                           double gamma, double* more, double& spread, double& largest) {
    double sum = 0, most = 0;
#pragma omp simd reduction(+ : sum) reduction(max : most)
    for (Index e = 0; e < n; ++e) {
        const double s = 1 / (1 + precision[e]), size = std::abs(x[e]) * s;
        sum += x[e] * x[e] * s;
        most = size > most ? size : most;
        more[e] = r * x[e] * x[e] / gamma;
    }
    spread = sum, largest = most;
}

// The outputs of a feature are kept together, by their total precision. A row of weight r counts as if its
// gamma were gamma / r.
template <class Rows, class Q>
Index sofs(const Rows& X, Q q, const double* y, const double* weight, const SofsRule& rule,
           const SofsState& state) {
    const double gamma = rule.gamma;
    KeptHeap kept = state.kept;
    const Index budget = kept.room();
    double *at = state.weight.data, *bias = state.bias, *bias_precision = state.bias_precision;
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *a = m + q;
    const Index longest = X.longest(), width = 2 * q;
    // entries of a row: those whose feature was kept before it, and others that may be kept
    std::vector<std::int32_t> before(static_cast<std::size_t>(longest)), others(before.size());
    // of the entries: precisions, output by output, and what each of them gains
    std::vector<double> precision(std::size_t(longest * q)), more(before.size());
    // More precision where there was an error; the total over outputs.
    auto gain = [&](double* s, Index e) {
        double total = 0;
        for (Index o = 0; o < q; ++o) {
            s[2 * o] = precision[std::size_t(o * longest + e)] + (a[o] != 0 ? more[std::size_t(e)] : 0);
            total += s[2 * o];
        }
        return total;
    };
    // What a step adds to the weight of output o.
    auto move = [&](Index o, Index e, double x) {
        return a[o] * (x / (1 + precision[std::size_t(o * longest + e)]));
    };
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1, *label = y + i * q;
        for (Index o = 0; o < q; ++o) m[o] = bias[o];
        const Index n_before = kept.entries(row, before.data());
        for (Index c = 0; c < n_before; ++c) {
            const double x = row.value(before[std::size_t(c)]);
            const double* s = at + row.index(before[std::size_t(c)]) * width;
            for (Index o = 0; o < q; ++o) m[o] += x * s[2 * o + 1];
        }
        bool any = false;
        for (Index o = 0; o < q; ++o) any |= label[o] * m[o] < 1;
        if (!any) {
            state.clock.add(r);
            continue;
        }
        for (Index e = 0; e < row.length; ++e) {
            const double* s = at + row.index(e) * width;
            for (Index o = 0; o < q; ++o) precision[std::size_t(o * longest + e)] = s[2 * o];
        }
        for (Index o = 0; o < q; ++o) {
            a[o] = 0;
            if (label[o] * m[o] >= 1) continue;
            double largest = 0, spread = 0;  // x'S x
            sofs_spread(row.length, row.x, precision.data() + o * longest, r, gamma, more.data(), spread,
                        largest);
            if (rule.fit_intercept) spread += 1 / (1 + bias_precision[o]);
            a[o] = (1 - label[o] * m[o]) / (spread + gamma / r) * label[o];
            if (!(std::abs(a[o]) * std::max(1.0, largest) < 1e200)) return i;
        }
        state.clock.add(r);
        // The kept features of the row first: the variance that the others must be below depends on them.
        for (Index c = 0; c < n_before; ++c) {
            const Index e = before[std::size_t(c)], j = row.index(e);
            const double x = row.value(e);
            if (x == 0) continue;
            double* s = at + j * width;
            for (Index o = 0; o < q; ++o) s[2 * o + 1] += move(o, e, x);
            kept.rescore(kept.find(j), gain(s, e));
        }
        // Once all places are taken, the least precision that is kept only rises: whoever is below it now
        // stays out.
        const double threshold = kept.size() >= budget ? kept.top().score : 0;
        Index n_others = 0, from = 0;
        for (Index c = 0; c <= n_before; ++c) {
            const Index to = c < n_before ? before[std::size_t(c)] : row.length;
            for (Index e = from; e < to; ++e) {
                const double total = gain(at + row.index(e) * width, e);
                others[std::size_t(n_others)] = std::int32_t(e);
                n_others += (row.value(e) != 0) & !(total < threshold);
            }
            from = to + 1;
        }
        for (Index c = 0; c < n_others; ++c) {
            const Index e = others[std::size_t(c)], j = row.index(e);
            double* s = at + j * width;
            double total = 0;
            for (Index o = 0; o < q; ++o) total += s[2 * o];
            const Ranked now{total, double(j)};
            if (kept.size() < budget) {
                kept.push(now);
            } else if (better(now, kept.top())) {
                double* out = at + kept.top().j() * width;
                for (Index o = 0; o < q; ++o) out[2 * o + 1] = 0;
                kept.replace(0, now);
            } else {
                continue;
            }
            for (Index o = 0; o < q; ++o) s[2 * o + 1] = move(o, e, row.value(e));
        }
        if (rule.fit_intercept) {
            for (Index o = 0; o < q; ++o) {
                if (a[o] == 0) continue;
                bias[o] += a[o] / (1 + bias_precision[o]);
                bias_precision[o] += r / gamma;
            }
        }
    }
    return X.rows;
}

}  // namespace streamsieve
