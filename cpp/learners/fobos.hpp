// FOBOS (Duchi and Singer 2009), also known as online proximal gradient: a gradient step, then the prox of
// eta_t (l1 |w|_1 + l2 / 2 |w|^2), which is w <- soft(w, eta_t l1) / (1 + eta_t l2), for every weight.
//
// O(nnz) a row and column. A weight is scale (|v| - spent), with the sign of v, or zero where that is
// negative: prox steps one after the other add up in `spent` and multiply in `scale`, which are one number
// each for a whole column. They are put back to 0 and 1 when they have grown so far that the difference would
// lose digits: O(p) every million rows or so, or every 115 / (eta l2).
#pragma once
#include "learners/ladder.hpp"

namespace streamsieve {

struct Fobos {
    const double *l1, *l2;
    double *spent, *scale;  // (width)
    double* v;              // (p, width)
    Index p, width;

    Pace pace(const Norm& norm, double r, const double*, Index, StepSize& step, double curvature) const {
        return pace_of(step.next(norm, r, curvature), norm);
    }

    void share(Own& own) {
        own.given(l1), own.given(l2), own.column(spent), own.column(scale), own.table(v);
        width = own.n;
    }

    struct Columns {
        const Fobos& rule;
        Index first;
        const double *l1, *l2;
        double *spent, *scale, *v;
        double eta = 0, bias = 0;
        double over[lanes] = {};

        void start(const Pace& pace, double) { eta = pace.weights, bias = pace.bias; }
        void expect(Index at, Index c) const { prefetch(v + at + c); }
        double read(Index at, Index c) const {
            const double z = v[at + c];
            return scale[c] * soft(z, spent[c]);
        }
        void learn(Index at, Index c, double w, double g) const {
            const double u = (w - eta * g) * over[c];
            v[at + c] = u + std::copysign(spent[c], u);
        }
        double intercept(Index, double b, double d) const { return b - bias * d; }
        void turn(Index c) {
            const double by = eta * l1[c] * over[c];
            spent[c] += by;
            if (l2[c] > 0) scale[c] /= 1 + eta * l2[c];
            if (scale[c] < 1e-50 || spent[c] > std::max(1024 * over[c], 1e6 * by)) settle(c);
            over[c] = 1 / scale[c];
        }
        void settle(Index c) {
            for (Index j = 0; j < rule.p; ++j) {
                const Index at = j * rule.width + first;
                v[at + c] = read(at, c);
            }
            spent[c] = 0, scale[c] = 1;
        }
    };
    Columns columns(Index first, Index n) const {
        Columns c{*this, first, l1 + first, l2 + first, spent + first, scale + first, v};
        for (Index o = 0; o < n; ++o) c.over[o] = 1 / c.scale[o];
        return c;
    }
};

}  // namespace streamsieve
