// l1-ARDA (Duchi, Hazan and Singer 2011): w = -eta_t soft(g, t l1) / H, g the sum of the gradients, H as in
// adagrad.hpp.
//
// O(nnz) a row and column: a weight is a function of its own sums and of t, so there is nothing to catch up.
#pragma once
#include "learners/adagrad.hpp"

namespace streamsieve {

struct L1Arda : AdaGrad {
    const double* l1;
    double* eta;  // (1): eta_t of the last row
    double* sum;  // (p, width)
    Index p;

    Pace pace(const Norm& norm, double r, const double* y, Index q, StepSize& step, double curvature) const {
        Pace out = AdaGrad::pace(norm, r, y, q, step, curvature);
        out.sum = *eta;  // before this row
        *eta = out.weights;
        return out;
    }

    void share(Own& own) {
        AdaGrad::share(own);
        own.given(l1), own.table(sum);
    }

    struct Columns {
        const double* l1;
        double *sum, *h, *bias_h;
        double delta;
        Index n;
        double eta = 0, bias = 0, at_least[lanes] = {};

        void start(const Pace& pace, double t) {
            eta = pace.sum, bias = pace.bias;
            for (Index c = 0; c < n; ++c) at_least[c] = (t - 1) * l1[c];
        }
        void expect(Index at, Index c) const { prefetch(sum + at + c), prefetch(h + at + c); }
        double read(Index at, Index c) const {
            const double z = sum[at + c];
            return -eta * soft(z, at_least[c]) / (delta + h[at + c]);
        }
        void learn(Index at, Index c, double, double g) const {
            sum[at + c] += g;
            h[at + c] = root_of_squares(h[at + c], g);
        }
        double intercept(Index c, double b, double d) const {
            bias_h[c] = root_of_squares(bias_h[c], d);
            return b - bias * d / (delta + bias_h[c]);
        }
        void turn(Index) const {}
    };
    Columns columns(Index first, Index n) const { return {l1 + first, sum, h, bias_h + first, delta, n}; }
};

}  // namespace streamsieve
