// Stochastic iterative hard thresholding: a gradient step, then all but the k best weights are zero
// ([Susan] section 3, [Sun] section 5.1).
//
// Only k weights are not zero, so the candidates of a row are the kept features and the row's own. A heap of
// the kept ones, worst first, makes that O(nnz q + touched log k) per row, whatever p is. Ranks are by
// |w_j|^2 times the mean square of the feature's values, which only rows that have the feature change.
#pragma once
#include <vector>

#include "core/topk.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

struct SihtState {
    Clock& clock;
    Table<double> moments;  // of the features, if steps are in their units
    Kept kept;
    Table<double> weight;  // of the features kept, (k, q), times scale
    double* scale;
    double* bias;
};

template <class Rows, class Q, class Units>
Index siht(const Rows& X, const Loss& loss, Q q, Units& units, const double* y, const double* weight,
           StepSize step, const SihtState& state) {
    Kept kept = state.kept;
    double *v = state.weight.data, *scale = state.scale, *bias = state.bias;
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    std::vector<std::int32_t> slots(std::size_t(X.longest())), touched(slots.size());
    const Clock& clock = *step.clock;
    auto square = [&](const double* w) {
        double s = 0;
        for (Index o = 0; o < q; ++o) s += w[o] * w[o];
        return s;
    };
    auto fresh = [&](Index s) { return ranked(square(v + s * q) * units.mean_square(kept.feature(s))); };
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1;
        for (Index o = 0; o < q; ++o) m[o] = 0;
        Index hits = 0;
        double inside = 0;  // squared norm of the features that are kept
        const Norm all = units.pass(row, r);
        for (Index e = 0; e < row.length; ++e) {
            const Index s = kept.find(row.index(e));
            slots[std::size_t(e)] = std::int32_t(s);
            if (s < 0) continue;
            touched[std::size_t(hits++)] = std::int32_t(e);
            inside += units.direction(row, e) * row.value(e);
            for (Index o = 0; o < q; ++o) m[o] += row.value(e) * v[s * q + o];
        }
        const Norm norm = all.truncated(kept.room(), inside);
        const double slope = slopes(loss, q, m, *scale, bias, y + i * q, r, d);
        const auto eta = step.next(norm, r, loss.curvature);
        if (!eta.fits(slope, norm)) return i;
        if (step.lam > 0) {
            *scale *= 1 - eta.weights * step.lam;
            if (*scale < tiny_scale) {
                for (Index e = 0; e < kept.size() * q; ++e) v[e] *= *scale;
                *scale = 1;
                for (Index s = 0; s < kept.size(); ++s) kept.rescore(s, fresh(s));
            }
        }
        if (slope == 0) {
            for (Index h = 0; h < hits; ++h) {
                const Index s = slots[std::size_t(touched[std::size_t(h)])];
                kept.rescore(s, fresh(s));
            }
            continue;
        }
        for (Index o = 0; o < q; ++o) {
            bias[o] -= eta.bias * d[o];
            d[o] *= -eta.weights / *scale;
        }
        // The kept features of the row first: the threshold that the others must pass depends on them.
        for (Index h = 0; h < hits; ++h) {
            const Index e = touched[std::size_t(h)], s = slots[std::size_t(e)];
            const double u = units.direction(row, e);
            for (Index o = 0; o < q; ++o) v[s * q + o] += u * d[o];
            kept.rescore(s, fresh(s));
        }
        const double far = square(d);
        if (kept.full() && ranked(all.largest * far) < kept.score(kept.worst())) continue;
        for (Index e = 0; e < row.length; ++e) {
            if (slots[std::size_t(e)] >= 0) continue;
            const Index j = row.index(e);
            const double u = units.direction(row, e), score = ranked(u * row.value(e) * far);
            if (!(score > 0) || !units.varies(j, clock.weight)) continue;  // constant: never selected
            Index s;
            if (!kept.full()) {
                s = kept.push(j, score);
            } else {
                s = kept.worst();
                if (!kept.beats(j, score, s)) continue;
                kept.replace_worst(j, score);
            }
            for (Index o = 0; o < q; ++o) v[s * q + o] = u * d[o];
        }
    }
    return X.rows;
}

}  // namespace streamsieve
