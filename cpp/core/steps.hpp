// The step of the next row. Whatever it depends on lives in the clock, which is state of the learner, so that
// it does not matter how the stream is cut into calls.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/simd.hpp"

namespace streamsieve {

enum class Schedule { constant, sqrt, doubling };

// What the t-th step is multiplied by; `horizon` is state of the doubling trick ([Susan] section 4).
inline double fade(Schedule schedule, double t, double& horizon) {
    if (schedule == Schedule::constant) return 1;
    if (schedule == Schedule::sqrt) return 1 / std::sqrt(t);
    if (t > horizon) horizon = 2 * t;
    return std::log(horizon) / horizon;
}

// State: rows so far, their total weight, the sum of their squared norms, the number of their non-zeros, the
// horizon `a` of the doubling trick, and the largest weight. Six doubles of a NumPy array.
struct Clock {
    double rows, weight, norms, entries, horizon, heaviest;
};

// The clock of learners whose steps depend on nothing else: rows so far and their total weight.
struct RowCount {
    double rows, weight;
    void add(double r) {
        rows += 1;
        weight += r;
    }
};

// Squared norm of a row in the units its step is taken in, how many of its values are not zero, and the
// largest of the squares.
struct Norm {
    double square = 0, count = 0, largest = 0;
    void add(double s) {
        square += s;
        count += 1;
        if (s > largest) largest = s;
    }
    // The part that the features of a step truncated to k have in it, `kept` being that of the k before the
    // step. A step concerns the k features before it, the k after it and the k that it should find: iterative
    // hard thresholding converges by the isometry of any 3 k features (Blumensath and Davies 2009). These
    // have their share of the row, or, where that is more, what the k have.
    Norm truncated(Index k, double kept) const {
        if (!(square > 0)) return {0, 0, largest};
        const double part = std::max(std::min(1.0, 3 * double(k) / count), kept / square);
        return {part * square, part * count, largest};
    }
};

struct StepSize {
    double eta;  // the user's, or 0: derived from the norms of the rows seen
    Schedule schedule;
    double lam;
    bool intercept;
    Clock* clock;
    double memory = std::numeric_limits<double>::infinity();  // rows that the mean norm looks back
    double unit = 0;  // mean square of a dense column, where it is known

    struct Step {
        double weights, bias;
        // The largest move this step can make. The weights are refused before they overflow: below this limit
        // it would take 1e50 steps.
        bool fits(double slope, const Norm& norm) const {
            return slope * std::max(weights * std::sqrt(norm.square), bias) < 1e200;
        }
    };

    // A derived step is s(t) / (4 L max(r R^2, r' |x|^2) + lam), R^2 the mean squared norm so far, L the
    // curvature of the loss, s the schedule, r the mean weight of the rows, and r' that or, if it is more, a
    // quarter of the largest. 1 / (L |x|^2) would take a row of weight 1 to its own target, and no row can
    // overshoot it; a quarter of that is the longest constant step whose noise stays bounded whatever the
    // spectrum of the rows (Bach and Moulines 2013). It does not depend on the weight of the row itself,
    // which would undo it. The intercept takes part as one more feature: a dense column, or one with the mean
    // square of the non-zeros seen, so that the units of the data cancel.
    Step next(const Norm& norm, double r, double curvature) const {
        Clock& c = *clock;
        c.rows += 1;
        c.weight += r;
        c.heaviest = std::max(c.heaviest, r);
        const double span = std::min(c.rows, memory);
        if (span < c.rows) {
            c.norms *= 1 - 1 / memory;
            c.entries *= 1 - 1 / memory;
        }
        c.norms += norm.square;
        c.entries += norm.count;
        const double s = fade(schedule, c.rows, c.horizon);
        if (eta > 0) return {eta * s, intercept ? eta * s : 0};
        const double beside = !intercept ? 0 : unit > 0 ? unit : c.norms > 0 ? c.norms / c.entries : 1;
        const double mean = c.weight / c.rows, heavy = std::max(mean, 0.25 * c.heaviest);
        const double most = std::max(mean * (c.norms / span + beside), heavy * (norm.square + beside));
        // nothing but rows that are empty, or so small that their squares vanish: nothing to move
        if (!(most > 1e-200)) return {0, 0};
        const double step = s / (4 * curvature * most + lam);
        return {step, step * beside};
    }
};

}  // namespace streamsieve
