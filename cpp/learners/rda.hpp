// Regularised dual averaging (Xiao 2010; [Ma] eq. 18, the long form) with beta_t = 1 / eta_t:
//   w = argmin <g, w> + t (l1 |w|_1 + l2 / 2 |w|^2) + (|w|^2 / 2 + rho |w|_1) / eta_t
//     = -soft(g, t l1 + rho / eta_t) / (1 / eta_t + t l2),   g the sum of the gradients so far.
//
// O(nnz) a row and column: a weight is a function of its own sum and of t, so there is nothing to catch up.
#pragma once
#include "learners/ladder.hpp"

namespace streamsieve {

struct Rda {
    const double *l1, *l2;
    double rho;
    double* eta;  // (1): eta_t of the last row, 0 before the first
    double* sum;  // (p, width)
    Index p;

    // The papers ask for beta_t that never falls.
    Pace pace(const Norm& norm, double r, const double*, Index, StepSize& step, double curvature) const {
        Pace out = pace_of(step.next(norm, r, curvature), norm);
        if (*eta > 0 && !(out.weights < *eta)) out.weights = *eta;
        out.sum = *eta;  // before this row
        *eta = out.weights;
        return out;
    }

    void share(Own& own) { own.given(l1), own.given(l2), own.table(sum); }

    struct Columns {
        const double *l1, *l2;
        double rho;
        double* sum;
        Index n;
        double bias = 0, at_least[lanes] = {}, factor[lanes] = {};

        void start(const Pace& pace, double t) {
            bias = pace.bias;
            if (!(pace.sum > 0)) return;  // nothing but empty rows so far: all sums are 0
            for (Index c = 0; c < n; ++c) {
                at_least[c] = (t - 1) * l1[c] + rho / pace.sum;
                factor[c] = -pace.sum / (1 + pace.sum * (t - 1) * l2[c]);
            }
        }
        void expect(Index at, Index c) const { prefetch(sum + at + c); }
        double read(Index at, Index c) const {
            const double z = sum[at + c];
            return factor[c] * soft(z, at_least[c]);
        }
        void learn(Index at, Index c, double, double g) const { sum[at + c] += g; }
        double intercept(Index, double b, double d) const { return b - bias * d; }
        void turn(Index) const {}
    };
    Columns columns(Index first, Index n) const { return {l1 + first, l2 + first, rho, sum, n}; }
};

}  // namespace streamsieve
