// What l1-ARDA and Ada-FOBOS share (Duchi, Hazan and Singer 2011): each weight has a step of its own,
// eta / H, H = delta + h, h the root of the sum of its squared gradients.
#pragma once
#include "core/fields.hpp"
#include "learners/ladder.hpp"

namespace streamsieve {

struct AdaGrad {
    double delta;
    double* targets;     // (1): sum over the rows of the mean square of their targets
    double *h, *bias_h;  // (p, width), (width)

    void share(Own& own) { own.table(h), own.column(bias_h); }

    // A step moves a weight by at most eta, whatever the gradient, so a derived one is in the units of the
    // weights: rms(y) / (mean number of non-zeros x mean squared norm)^1/2, with which the first row moves
    // its own margin by about one target.
    Pace pace(const Norm& norm, double r, const double* y, Index q, StepSize step, double curvature) const {
        double square = 0;
        for (Index o = 0; o < q; ++o) square += y[o] * y[o];
        *targets += square / double(q);
        const bool derived = !(step.eta > 0);
        if (derived) step.eta = 1;  // then what comes back is the schedule
        Pace out = pace_of(step.next(norm, r, curvature), norm);
        const Clock& c = *step.clock;
        if (derived) {
            const double scale = std::sqrt(*targets / c.rows);
            out.weights *= c.norms > 0 ? scale * (c.rows / std::sqrt(c.norms * c.entries)) : 0;
            out.bias *= scale / std::sqrt(c.entries / c.rows + 1);
        }
        // no step is too long, but a square can overflow
        out.reach = std::max(std::max(out.weights, out.bias), 1e50 * (std::sqrt(norm.square) + 1));
        return out;
    }
};

inline AdaGrad read_adagrad(Fields& rule, Fields& state) {
    return {rule.number("delta"), &state.record<double>("targets"), state.table<double>("root").data,
            state.vector<double>("bias_root").data()};
}

inline double root_of_squares(double a, double b) {
    return std::sqrt(a * a + b * b);
}

}  // namespace streamsieve
