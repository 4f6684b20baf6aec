// Truncated gradient (Langford, Li and Zhang 2009): every K rows each weight of at most theta is brought
// closer to zero by K eta_t g0, g0 the gravity, here l1.
//
// O(nnz) a row and column. Between two visits a weight is either beyond theta all the time, and stays, or
// never, and shrinks by l1 times what the gravity has summed up to since: `pull`, at the last visit `then`.
// Where theta is infinite `then` need not be kept: |w| + l1 `then` is stored instead of |w|.
#pragma once
#include "learners/ladder.hpp"

namespace streamsieve {

struct Gravity {
    double pull;  // sum of K eta_t over the truncations so far
    double step;  // the last one
};

template <bool bounded>
struct TruncatedGradient {
    const double* l1;
    double theta, every;
    Gravity& gravity;
    double *w, *then;  // (p, width); `then` only if bounded
    Index p;

    Pace pace(const Norm& norm, double r, const double*, Index, StepSize& step, double curvature) const {
        Pace out = pace_of(step.next(norm, r, curvature), norm);
        gravity.step = out.weights;
        out.sum = gravity.pull;
        if (std::fmod(step.clock->rows, every) == 0) gravity.pull += every * out.weights;
        return out;
    }

    void share(Own& own) { own.given(l1), own.table(w), own.table(then); }

    struct Columns {
        const double* l1;
        double theta;
        double *w, *then;
        double eta = 0, bias = 0, pull = 0;

        void start(const Pace& pace, double) { eta = pace.weights, bias = pace.bias, pull = pace.sum; }
        void expect(Index at, Index c) const {
            prefetch(w + at + c);
            if constexpr (bounded) prefetch(then + at + c);
        }
        double read(Index at, Index c) const {
            const double now = w[at + c];
            if constexpr (!bounded) return soft(now, l1[c] * pull);
            const double less = soft(now, l1[c] * (pull - then[at + c]));
            return std::abs(now) <= theta ? less : now;
        }
        void learn(Index at, Index c, double now, double g) const {
            const double next = now - eta * g;
            if constexpr (bounded)
                w[at + c] = next, then[at + c] = pull;
            else
                w[at + c] = next + std::copysign(l1[c] * pull, next);
        }
        double intercept(Index, double b, double d) const { return b - bias * d; }
        void turn(Index) const {}
    };
    Columns columns(Index first, Index) const { return {l1 + first, theta, w, then}; }
};

}  // namespace streamsieve
