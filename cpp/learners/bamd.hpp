// B-AMD, [Zhai] Algorithm 2: g = loss' x + alpha w, z = w - eta g / H, H = delta + s, and the B largest H |z|
// are kept.
//
// Only the kept weights are not zero, so nobody else moves without being touched: O(nnz q + B q) a row, and
// O(nnz q + touched log B) without penalty. (With it every kept weight has its own recursion, which has no
// closed form, and all must take each step.) The outputs of a feature share H: s_j is the norm of its
// gradients over rows and outputs. Groups compete by the mean of their features' scores.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/heap.hpp"
#include "learners/adaptive.hpp"
#include "learners/groups.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

struct BamdState {
    RowCount& clock;
    KeptHeap kept;
    std::int32_t* place;
    Table<double> weight;  // (p, 1 + q): the sum of squared gradients, and the weights
    AdaptiveBias bias;
};

// The state of a feature, s: the sum of its squared gradients, and q weights.
template <class Q>
struct MirrorStep {
    const AdaptiveRule& rule;
    Q q;

    // H |w|
    double score(const double* s) const {
        double size = 0;
        for (Index o = 1; o <= q; ++o) size += q > 1 ? s[o] * s[o] : std::abs(s[o]);
        return (rule.delta + std::sqrt(s[0])) * (q > 1 ? std::sqrt(size) : size);
    }
    // The step of the weights with gradients x slope + alpha w; the score of what it makes.
    double operator()(double* s, double x, const double* slope, double alpha) const {
        double square = 0;
        for (Index o = 0; o < q; ++o) {
            const double g = slope[o] * x + alpha * s[1 + o];
            square += g * g;
        }
        s[0] += square;
        const double h = rule.delta + std::sqrt(s[0]);
        double size = 0;
        for (Index o = 0; o < q; ++o) {
            double& w = s[1 + o];
            w -= rule.eta * (slope[o] * x + alpha * w) / h;
            size += q > 1 ? w * w : std::abs(w);
        }
        return h * (q > 1 ? std::sqrt(size) : size);
    }
};

// Values are bounded by Python such that nothing overflows: a step moves a weight by eta at most.
template <class Rows, class Q>
Index bamd(const Rows& X, const Loss& loss, Q q, const double* y, const double* weight,
           const AdaptiveRule& rule, const EachAlone&, const BamdState& state) {
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    KeptHeap kept = state.kept;
    const Index budget = kept.room();
    const AdaptiveBias bias = state.bias;
    std::int32_t* place = state.place;
    double* at = state.weight.data;
    std::vector<char> stepped(std::size_t(X.longest()));  // entries whose feature was kept before the row
    const Index width = q + 1;
    if (rule.alpha == 0) kept.order();  // as it is, unless there was a penalty before
    const MirrorStep<Q> step{rule, q};
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        for (Index o = 0; o < q; ++o) m[o] = 0;
        for (Index e = 0; e < row.length; ++e) {
            if (e + 24 < row.length) {
                prefetch(at + row.index(e + 24) * width);
                prefetch(place + row.index(e + 24));
            }
            const double x = row.value(e), *w = at + row.index(e) * width + 1;
            for (Index o = 0; o < q; ++o) m[o] += x * w[o];
        }
        const double slope = slopes(loss, q, m, 1, bias.value, y + i * q, r, d);
        state.clock.add(r);
        if (slope != 0) {
            for (Index e = 0; e < row.length; ++e) {
                const Index j = row.index(e);
                const double x = row.value(e);
                const Index where = kept.find(j);
                stepped[std::size_t(e)] = where >= 0;
                if (x == 0 || where < 0) continue;
                const double score = step(at + j * width, x, d, rule.alpha);
                if (rule.alpha > 0) {
                    kept.set(where, score);  // put in order below, if anyone asks
                    place[j] = -place[j];    // has had its step
                } else {
                    kept.rescore(where, score);
                }
            }
        }
        Ranked worst = kept.size() > 0 ? kept.top() : Ranked{0, 0};
        if (rule.alpha > 0) {
            for (Index place_in = 0; place_in < kept.size(); ++place_in) {
                const Index j = kept[place_in].j();
                if (place[j] < 0)
                    place[j] = -place[j];
                else
                    kept.set(place_in, step(at + j * width, 0, d, rule.alpha));
                if (place_in == 0 || better(worst, kept[place_in])) worst = kept[place_in];
            }
        }
        if (slope == 0) continue;
        bool ordered = rule.alpha == 0;
        double far = 0;
        for (Index o = 0; o < q; ++o) far += d[o] * d[o];
        far = rule.eta * std::sqrt(far);
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            const double x = row.value(e);
            if (x == 0 || stepped[std::size_t(e)]) continue;
            double* s = at + j * width;
            // H |z| of a weight that was 0 is eta |g|, but for rounding: no need of H to see that it is too
            // little
            if (kept.size() >= budget && far * std::abs(x) * (1 + 1e-12) < worst.score) {
                double square = 0;
                for (Index o = 0; o < q; ++o) square += (d[o] * x) * (d[o] * x);
                s[0] += square;
                continue;
            }
            const Ranked now{step(s, x, d, 0), double(j)};
            if (!(now.score > 0)) continue;
            if (!ordered) kept.order(), ordered = true;
            if (kept.size() < budget) {
                kept.push(now);
            } else if (better(now, kept.top())) {
                double* out = at + kept.top().j() * width;
                for (Index o = 0; o < q; ++o) out[1 + o] = 0;
                kept.replace(0, now);
            } else {
                for (Index o = 0; o < q; ++o) s[1 + o] = 0;
            }
            worst = kept.top();
        }
        if (bias.fit) {
            step(bias.gradient, 1, d, 0);
            for (Index o = 0; o < q; ++o) bias.value[o] = bias.gradient[1 + o];
        }
    }
    return X.rows;
}

// The same for groups, O(nnz log nnz) a row and O(1) for each feature of a group that is kept or touched.
template <class Rows, class Q>
Index bamd(const Rows& X, const Loss& loss, Q q, const double* y, const double* weight,
           const AdaptiveRule& rule, const Groups& groups, const BamdState& state) {
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    KeptHeap kept = state.kept;
    const AdaptiveBias bias = state.bias;
    double* at = state.weight.data;
    const Index width = q + 1;
    const MirrorStep<Q> step{rule, q};
    struct Value {
        Index group, feature;
        double x;
    };
    const auto before = [](const Value& a, const Value& b) {
        return a.group != b.group ? a.group < b.group : a.feature < b.feature;
    };
    std::vector<Value> values;  // those of the row that are not zero, group by group
    std::vector<char> stepped;  // whether their group was kept before the row
    const auto score = [&](Index g) {
        return groups.mean(g, [&](Index j) { return step.score(at + j * width); });
    };
    const auto clear = [&](Index g) {
        for (const std::int32_t j : groups.members(g)) std::fill_n(at + j * width + 1, Index(q), 0.0);
    };
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        for (Index o = 0; o < q; ++o) m[o] = 0;
        for (Index e = 0; e < row.length; ++e) {
            const double x = row.value(e), *w = at + row.index(e) * width + 1;
            for (Index o = 0; o < q; ++o) m[o] += x * w[o];
        }
        const double slope = slopes(loss, q, m, 1, bias.value, y + i * q, r, d);
        state.clock.add(r);
        values.clear();
        for (Index e = 0; e < row.length && slope != 0; ++e)
            if (const double x = row.value(e); x != 0)
                values.push_back({groups.of(row.index(e)), row.index(e), x});
        std::sort(values.begin(), values.end(), before);
        stepped.assign(values.size(), 0);
        for (std::size_t e = 0; e < values.size(); ++e) {
            stepped[e] = kept.find(values[e].group) >= 0;
            if (stepped[e]) step(at + values[e].feature * width, values[e].x, d, rule.alpha);
        }
        if (rule.alpha > 0) {  // all others that are kept have their step as well
            for (Index place = 0; place < kept.size(); ++place) {
                const Index g = kept[place].j();
                auto next = std::lower_bound(values.begin(), values.end(), Value{g, 0, 0}, before);
                for (const std::int32_t j : groups.members(g))
                    if (next != values.end() && next->group == g && next->feature == j)
                        ++next;
                    else
                        step(at + j * width, 0, d, rule.alpha);
                kept.set(place, score(g));
            }
            kept.order();
        }
        for (std::size_t from = 0, to; from < values.size(); from = to) {
            const Index g = values[from].group;
            for (to = from; to < values.size() && values[to].group == g; ++to)
                if (!stepped[from]) step(at + values[to].feature * width, values[to].x, d, 0);
            if (stepped[from] && rule.alpha == 0) kept.rescore(kept.find(g), score(g));
        }
        for (std::size_t e = 0; e < values.size(); ++e) {
            const Index g = values[e].group;
            if (stepped[e] || (e > 0 && values[e - 1].group == g)) continue;
            const Ranked now{score(g), double(g)};
            if (!(now.score > 0)) continue;
            if (kept.size() < kept.room()) {
                kept.push(now);
            } else if (better(now, kept.top())) {
                clear(kept.top().j());
                kept.replace(0, now);
            } else {
                clear(g);
            }
        }
        if (slope != 0 && bias.fit) {
            step(bias.gradient, 1, d, 0);
            for (Index o = 0; o < q; ++o) bias.value[o] = bias.gradient[1 + o];
        }
    }
    return X.rows;
}

}  // namespace streamsieve
