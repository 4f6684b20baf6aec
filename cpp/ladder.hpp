// Learners whose weights a penalty moves at every row, touched or not, at O(nnz) a row: each weight is stored
// such that it can be read at any time from a few running totals (its rule says how), so that the weights a
// row does not touch cost nothing.
//
// A ladder of penalties is more columns: state is (p, rungs x outputs). No column looks at another one, so
// they are walked up to twenty at a time: the columns of a feature are neighbours, so the lines a row fetches
// are used whole, and the inner loops run over vectors of columns. Threads share the columns out, and neither
// their number nor the blocks change a bit of the result.
//
// A rule is a small struct over the state:
//   Pace pace(norm, r, y, q, step, curvature)   once a row, for all columns: its step
//   columns(first, n)                           the rule as n columns from `first` on see it, which has
//     start(pace, t)       before a row, the t-th
//     expect(at, c)        fetch the line of at[c], which is read soon
//     read(at, c)          the weight at[c] as of now
//     learn(at, c, w, g)   the row's gradient g of the weight that was read as w
//     intercept(c, b, d)   the intercept after a slope d
//     turn(c)              the row has passed, for every weight of the column
// where `at` is the offset of the feature's first column, and c counts columns from there.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "linear.hpp"
#include "parallel.hpp"
#include "steps.hpp"

namespace streamsieve {

// Columns walked at a time, at most.
constexpr Index lanes = 20;

// The step of a row, and what of it must stay below 1e200 when multiplied by a slope; `sum` is for the rule.
struct Pace {
    double weights, bias, reach, sum;
};

inline Pace pace_of(const StepSize::Step& step, const Norm& norm) {
    return {step.weights, step.bias, std::max(step.weights * std::sqrt(norm.square), step.bias), 0};
}

inline double soft(double v, double by) {
    return std::copysign(std::max(std::abs(v) - by, 0.0), v);
}

// A loss as the ladder takes it: asked once for a row and column, not for every value, so that calling it
// through a pointer costs nothing and spares four copies of every kernel.
struct Slope {
    double (*derivative)(double m, double y);
    double curvature;
};

// Rows as targets and weights come with them, and the step of each.
template <class Rows>
struct Stretch {
    const Rows& X;
    const double* y;
    Index q;
    const double* weight;
    const Pace* pace;  // of the rows from `from` on
    Index from, to;
    double t;  // rows before `from`
};

// Columns first, ..., first + n - 1 over the rows; how many rows of X are learned then.
template <class Rows, class N, class Columns>
STREAMSIEVE_CLONES Index walk(const Stretch<Rows>& s, const Slope& loss, N n, Index first, Index width,
                              Columns& columns, double* bias, double* scratch) {
    double *m = scratch, *d = m + n, *w = d + n;
    for (Index i = s.from; i < s.to; ++i) {
        const auto row = s.X[i];
        const Pace& pace = s.pace[i - s.from];
        columns.start(pace, s.t + double(i - s.from + 1));
        if constexpr (std::is_same_v<N, One>) {
            // two loops, or the latency of one addition after the other is the time of both
            for (Index e = 0; e < row.length; ++e) w[e] = columns.read(row.index(e) * width + first, 0);
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (Index e = 0; e < row.length; ++e) sum += row.value(e) * w[e];
            m[0] = sum;
        } else {
            for (Index c = 0; c < n; ++c) m[c] = 0;
            for (Index e = 0; e < row.length; ++e) {
                const Index at = row.index(e) * width + first;
                const double x = row.value(e);
                if (e + 4 < row.length)
                    for (Index c = 0; c < n; c += 8) columns.expect(row.index(e + 4) * width + first, c);
#pragma omp simd
                for (Index c = 0; c < n; ++c) {
                    const double now = columns.read(at, c);
                    w[e * n + c] = now;
                    m[c] += x * now;
                }
            }
        }
        double most = 0;
        const double r = s.weight ? s.weight[i] : 1;
        for (Index c = 0; c < n; ++c) {
            d[c] = r * loss.derivative(m[c] + bias[first + c], s.y[i * s.q + (first + c) % s.q]);
            const double size = std::abs(d[c]);
            if (!(size <= most)) most = size;
        }
        if (!(most * pace.reach < 1e200)) return i;
        if (most > 0) {
            for (Index c = 0; c < n; ++c) bias[first + c] = columns.intercept(c, bias[first + c], d[c]);
            for (Index e = 0; e < row.length; ++e) {
                const Index at = row.index(e) * width + first;
                const double x = row.value(e);
#pragma omp simd
                for (Index c = 0; c < n; ++c) columns.learn(at, c, w[e * n + c], d[c] * x);
            }
        }
        for (Index c = 0; c < n; ++c) columns.turn(c);
    }
    return s.to;
}

// Rows walked at a time by all columns: their values and steps stay in the cache. Threads, which start anew
// for every stretch, get eight times as many.
constexpr Index block_rows = 256;

// Returns the number of rows learned: fewer than there are where the next step of some column would overflow.
template <class Rows, class Rule>
Index ladder(const Rows& X, const Slope& loss, Index q, Index width, const double* y, const double* weight,
             StepSize step, unsigned threads, Rule& rule, double* bias) {
    threads = unsigned(std::max(Index(1), std::min(Index(threads), width)));
    const Index share = std::min(lanes, (width + Index(threads) - 1) / Index(threads));
    const Index groups = (width + share - 1) / share;
    const std::size_t room = std::size_t(share * (X.longest() + 2));
    std::vector<double> scratch(room * threads);
    std::vector<Pace> pace(
        static_cast<std::size_t>(std::min(threads > 1 ? 8 * block_rows : block_rows, X.rows)));
    std::vector<Index> done(threads);
    for (Index from = 0; from < X.rows; from += Index(pace.size())) {
        const Index to = std::min(X.rows, from + Index(pace.size()));
        const double t = step.clock->rows;
        for (Index i = from; i < to; ++i) {
            const auto row = X[i];
            Norm norm;
            square_norm(row.x, row.length, norm.square, norm.count);
            pace[std::size_t(i - from)] =
                rule.pace(norm, weight ? weight[i] : 1, y + i * q, q, step, loss.curvature);
        }
        const Stretch<Rows> stretch{X, y, q, weight, pace.data(), from, to, t};
        parallel(threads, [&](unsigned k) {
            Index least = to;
            double* own = scratch.data() + room * k;
            // neighbours in memory to the same thread
            for (Index g = groups * Index(k) / Index(threads); g < groups * Index(k + 1) / Index(threads);
                 ++g) {
                const Index first = g * share, n = std::min(share, width - first);
                auto columns = rule.columns(first, n);
                const Index at = width == 1 ? walk(stretch, loss, One{}, first, width, columns, bias, own)
                                            : walk(stretch, loss, n, first, width, columns, bias, own);
                least = std::min(least, at);
            }
            done[k] = least;
        });
        const Index least = *std::min_element(done.begin(), done.end());
        if (least < to) return least;
    }
    return X.rows;
}

}  // namespace streamsieve
