// Passive-aggressive steps (Crammer et al. 2006, Figure 1), after each of which the k largest weights stay.
//
// A row whose loss l is zero changes nothing. Otherwise w <- w + tau s x, s the sign of the correction and
// tau = min(r C, l / |x|^2) (PA-I) or l / (|x|^2 + 1 / (2 r C)) (PA-II), r the row's weight: the least change
// that makes the loss zero, as far as C allows. Only k weights are not zero: O(nnz q + touched log k) a row.
#include <cmath>
#include <vector>

#include "core/heap.hpp"
#include "core/learner.hpp"
#include "learners/read_heap.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

struct PassiveAggressive {
    double C, epsilon;  // epsilon below 0: labels and the hinge
    bool second, fit_intercept;

    // What the weights of an output move by along x, given its margin; `square` is |x|^2.
    double step(double margin, double y, double square, double r) const {
        const double error = y - margin;
        const double sign = epsilon < 0 ? y : error < 0 ? -1 : 1;
        const double loss = epsilon < 0 ? 1 - y * margin : std::abs(error) - epsilon;
        if (!(loss > 0) || !(square > 0)) return 0;
        return sign * (second ? loss / (square + 1 / (2 * r * C)) : std::min(r * C, loss / square));
    }
};

template <class Rows, class Q>
Index passive_aggressive(const Rows& X, Q q, const double* y, const double* weight,
                         const PassiveAggressive& rule, RowCount& clock, KeptHeap kept, double* v,
                         double* bias) {
    const Index budget = kept.room();
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    std::vector<char> stepped(std::size_t(X.longest()));  // entries whose feature was kept before the row
    Raw units;
    auto size = [&](const double* w) {
        double s = 0;
        for (Index o = 0; o < q; ++o) s += w[o] * w[o];
        return q > 1 ? std::sqrt(s) : std::abs(*w);
    };
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        // the intercept is the weight of a column of ones
        const double square = margins(row, r, q, units, v, m).square + (rule.fit_intercept ? 1 : 0);
        clock.add(r);
        for (Index o = 0; o < q; ++o) {
            d[o] = rule.step(m[o] + bias[o], y[i * q + o], square, r);
            if (rule.fit_intercept) bias[o] += d[o];
        }
        const double far = size(d) * (1 + 1e-12);
        if (far == 0) continue;
        // The kept features of the row first: the threshold that the others must pass depends on them.
        for (Index e = 0; e < row.length; ++e) {
            const Index where = kept.find(row.index(e));
            stepped[std::size_t(e)] = where >= 0;
            if (where < 0) continue;
            double* w = v + row.index(e) * q;
            for (Index o = 0; o < q; ++o) w[o] += d[o] * row.value(e);
            kept.rescore(where, size(w));
        }
        for (Index e = 0; e < row.length; ++e) {
            const double x = row.value(e);
            if (stepped[std::size_t(e)] || x == 0) continue;
            if (kept.size() >= budget && far * std::abs(x) < kept.top().score) continue;
            double* w = v + row.index(e) * q;
            for (Index o = 0; o < q; ++o) w[o] = d[o] * x;
            const Ranked now{size(w), double(row.index(e))};
            if (now.score > 0 && kept.size() < budget) {
                kept.push(now);
            } else if (now.score > 0 && better(now, kept.top())) {
                double* out = v + kept.top().j() * q;
                for (Index o = 0; o < q; ++o) out[o] = 0;
                kept.replace(0, now);
            } else {
                for (Index o = 0; o < q; ++o) w[o] = 0;
            }
        }
    }
    return X.rows;
}

const Binding bindings([](nb::module_& m) {
    def_learner(m, "passive_aggressive", [](const Call& call, Fields& r, Fields& f) {
        const PassiveAggressive rule{r.number("C"), r.number("epsilon"), r.flag("second"),
                                     r.flag("fit_intercept")};
        const auto place = f.vector<std::int32_t>("place").data();
        auto& clock = f.record<RowCount>("clock");
        const KeptHeap kept = read_heap<KeptHeap>(f.fields("kept"), place);
        double *weight = f.table<double>("weight").data, *bias = f.vector<double>("bias").data();
        return call.dispatch([&](const auto& rows, auto q) {
            return passive_aggressive(rows, q, call.y, call.weight, rule, clock, kept, weight, bias);
        });
    });
});

}  // namespace streamsieve
