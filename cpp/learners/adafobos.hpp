// Ada-FOBOS (Duchi, Hazan and Singer 2011): w <- soft(w - eta_t g / H, eta_t l1 / H), H as in adagrad.hpp.
//
// O(nnz) a row and column. H of a weight only changes when it is touched; in between H |w| falls by eta_t l1
// at every row, whatever H is, so that one sum `spent` serves a whole column: |w| = (|v| - spent) / H.
#pragma once
#include "learners/adagrad.hpp"

namespace streamsieve {

struct AdaFobos : AdaGrad {
    const double* l1;
    double* spent;  // (width)
    double* v;      // (p, width)
    Index p, width;

    void share(Own& own) {
        AdaGrad::share(own);
        own.given(l1), own.column(spent), own.table(v);
        width = own.n;
    }

    struct Columns {
        const AdaFobos& rule;
        Index first;
        const double* l1;
        double *spent, *v, *h, *bias_h;
        double delta;
        double eta = 0, bias = 0;

        void start(const Pace& pace, double) { eta = pace.weights, bias = pace.bias; }
        void expect(Index at, Index c) const { prefetch(v + at + c), prefetch(h + at + c); }
        double read(Index at, Index c) const {
            const double z = v[at + c];
            return soft(z, spent[c]) / (delta + h[at + c]);
        }
        void learn(Index at, Index c, double w, double g) const {
            const double now = root_of_squares(h[at + c], g), u = w * (delta + now) - eta * g;
            h[at + c] = now;
            v[at + c] = u + std::copysign(spent[c], u);
        }
        double intercept(Index c, double b, double d) const {
            bias_h[c] = root_of_squares(bias_h[c], d);
            return b - bias * d / (delta + bias_h[c]);
        }
        void turn(Index c) {
            const double by = eta * l1[c];
            spent[c] += by;
            if (spent[c] > std::max(1024.0, 1e6 * by)) settle(c);
        }
        void settle(Index c) {
            for (Index j = 0; j < rule.p; ++j) {
                const Index at = j * rule.width + first;
                v[at + c] = soft(v[at + c], spent[c]);
            }
            spent[c] = 0;
        }
    };
    Columns columns(Index first, Index) const {
        return {*this, first, l1 + first, spent + first, v, h, bias_h + first, delta};
    }
};

}  // namespace streamsieve
