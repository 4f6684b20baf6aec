// Learners whose weights a penalty moves at every row, touched or not, at O(nnz) a row: each weight is stored
// such that it can be read at any time from a few running totals (its rule says how), so that the weights a
// row does not touch cost nothing.
//
// A ladder of penalties is more columns: state is (p, rungs x outputs). No column looks at another one, so
// they are walked up to twenty at a time: the columns of a feature are neighbours, so the lines a row fetches
// are used whole, and the inner loops run over vectors of columns. Threads share the columns out (`Own`), and
// neither their number nor the blocks change a bit of the result.
//
// A rule is a small struct over the state, of p features:
//   Pace pace(norm, r, y, q, step, curvature)   once a row, for all columns: its step
//   share(own)                                  hands its state to `own`, and takes that instead
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
#include <memory>
#include <type_traits>
#include <vector>

#include "core/linear.hpp"
#include "core/losses.hpp"
#include "core/parallel.hpp"
#include "core/steps.hpp"
#include "learners/plain_rows.hpp"

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

// Rows as targets and weights come with them, and the step of each.
template <class Rows>
struct Stretch {
    Rows X;
    const double* y;
    Index q;
    const double* weight;
    const Pace* pace;
    double t;  // rows before these
};

// f(c) for c < n, which must not depend on one another. Where n is known, a rest that does not fill a vector
// goes to shorter ones: left alone, its roots and divisions take as long as all the others.
template <class N, class F>
inline void each_lane(N n, const F& f) {
    if constexpr (std::is_same_v<N, Index>) {
#pragma omp simd
        for (Index c = 0; c < n; ++c) f(c);
    } else {
        constexpr Index some = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
#pragma omp simd
        for (Index c = 0; c < some; ++c) f(c);
        if constexpr (n > some)
            each_lane(std::integral_constant<Index, n - some>{}, [&](Index c) { f(some + c); });
    }
}

// Columns first, ..., first + n - 1 over the rows; how many of them are learned then. The targets are those
// of the columns from `shift` on.
template <class Rows, class N, class Columns>
STREAMSIEVE_CLONES Index walk(const Stretch<Rows>& s, const Loss& loss, N n, Index first, Index shift,
                              Index width, Columns& columns, double* bias, double* error, double* scratch) {
    double m[lanes], d[lanes], *w = scratch;
    for (Index i = 0; i < s.X.rows; ++i) {
        const auto row = s.X[i];
        const Pace& pace = s.pace[i];
        columns.start(pace, s.t + double(i + 1));
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
                each_lane(n, [&](Index c) {
                    const double now = columns.read(at, c);
                    w[e * n + c] = now;
                    m[c] += x * now;
                });
            }
        }
        double most = 0;
        const double r = s.weight ? s.weight[i] : 1;
        for (Index c = 0; c < n; ++c) {
            d[c] = r * loss.derivative(m[c] + bias[first + c], s.y[i * s.q + (shift + c) % s.q]);
            const double size = std::abs(d[c]);
            if (!(size <= most)) most = size;
        }
        if (!(most * pace.reach < 1e200)) return i;
        for (Index c = 0; c < n; ++c) error[first + c] += std::abs(d[c]);
        if (most > 0) {
            for (Index c = 0; c < n; ++c) bias[first + c] = columns.intercept(c, bias[first + c], d[c]);
            for (Index e = 0; e < row.length; ++e) {
                const Index at = row.index(e) * width + first;
                const double x = row.value(e);
                each_lane(n, [&](Index c) { columns.learn(at, c, w[e * n + c], d[c] * x); });
            }
        }
        for (Index c = 0; c < n; ++c) columns.turn(c);
    }
    return s.X.rows;
}

// The columns of one thread, in memory of its own: columns that share a line of the cache with another
// thread's would have to fetch it from the other processor for every write.
struct Own {
    static constexpr Index line = 8;
    Index p, width, first, n;  // columns first, ..., first + n - 1 of `width`
    struct Part {
        double* whole;
        Index rows;
        std::unique_ptr<double[]> room;
        double* own() const { return room.get() + line; }  // clear of what lies beside it
    };
    std::vector<Part> parts = {};

    void given(const double*& x) const { x += first; }  // (width), only read
    void column(double*& x) { take(x, 1); }             // (width)
    void table(double*& x) {
        if (x) take(x, p);  // (p, width)
    }
    void fetch() const {
        each([this](double* whole, double* own) { std::copy_n(whole, n, own); });
    }
    void give_back() const {
        each([this](double* whole, double* own) { std::copy_n(own, n, whole); });
    }
    template <class F>
    void each(const F& f) const {
        for (const Part& part : parts)
            for (Index j = 0; j < part.rows; ++j) f(part.whole + j * width + first, part.own() + j * n);
    }
    void take(double*& x, Index rows) {
        parts.push_back(
            {x, rows, std::make_unique_for_overwrite<double[]>(std::size_t(rows * n + 2 * line))});
        x = parts.back().own();
    }
};

// Rows and values walked at a time by all columns: they and their steps stay in the cache. Threads, which
// start anew for every stretch, get eight times as many.
constexpr Index block_rows = 256, block_values = 1 << 14;

// Returns the number of rows learned: fewer than there are where the next step of some column would overflow.
// `error` sums the magnitudes of the slopes, of each row before it is learned: how far a column is off.
template <class Rule>
Index ladder(PlainRows& X, const Loss& loss, Index q, Index width, const double* y, const double* weight,
             StepSize step, unsigned threads, Rule& rule, double* bias, double* error) {
    const Index p = rule.p;
    // What takes some 50 microseconds is done before a thread has started.
    if (X.values() * width < 50'000) threads = 1;
    threads = unsigned(std::max(Index(1), std::min(Index(threads), width)));
    // Copies pay where features come again; where they rarely do, threads rarely meet.
    const bool copies = threads > 1 && X.values() >= p;
    const Index longest = X.longest();
    const bool alone = width == 1;
    struct Thread {
        Own own;
        Rule rule;
        double *bias, *error;
        Index first;  // of its columns in the state
        std::vector<double> scratch;
        Index done;
    };
    std::vector<Thread> team;
    for (unsigned k = 0; k < threads; ++k) {
        const Index first = width * Index(k) / Index(threads);
        const Index n = width * Index(k + 1) / Index(threads) - first;
        team.push_back({Own{p, width, first, n}, rule, bias, error, first, {}, 0});
        Thread& one = team.back();  // memory is asked for here: in a thread nobody could be told of its lack
        one.scratch.resize(std::size_t(std::min(lanes, n) * longest));
        if (!copies) continue;
        one.rule.share(one.own);
        one.own.column(one.bias);
        one.own.column(one.error);
        one.first = 0;
    }
    if (copies) parallel(threads, [&](unsigned k) { team[k].own.fetch(); });
    const Index some = threads > 1 ? 8 : 1;
    const Index block =
        std::min(some * block_rows, std::max(Index(1), some * block_values / std::max(Index(1), longest)));
    std::vector<Pace> pace(static_cast<std::size_t>(std::min(block, X.rows())));
    Index learned = X.rows();
    for (Index from = 0; from < X.rows() && learned == X.rows(); from += Index(pace.size())) {
        const Index to = std::min(X.rows(), from + Index(pace.size()));
        const double t = step.clock->rows;
        const auto part = X.part(from, to);
        std::visit(
            [&](const auto& rows) {
                for (Index i = from; i < to; ++i)
                    pace[std::size_t(i - from)] = rule.pace(norm_of(rows[i - from]), weight ? weight[i] : 1,
                                                            y + i * q, q, step, loss.curvature);
            },
            part);
        const auto share_out = [&](const auto& stretch) {
            parallel(threads, [&](unsigned k) {
                Thread& me = team[k];
                me.done = to;
                for (Index c = 0; c < me.own.n; c += lanes) {
                    const Index n = std::min(lanes, me.own.n - c), first = me.first + c;
                    const Index stride = copies ? me.own.n : width;
                    auto columns = me.rule.columns(first, n);
                    const auto go = [&](auto lanes_of) {
                        return from + walk(stretch, loss, lanes_of, first, me.own.first + c, stride, columns,
                                           me.bias, me.error, me.scratch.data());
                    };
                    using Half = std::integral_constant<Index, lanes / 2>;
                    using Full = std::integral_constant<Index, lanes>;
                    Index learned_by_me;
                    if constexpr (std::is_same_v<std::decay_t<decltype(stretch.X)>, ListedRows>)
                        learned_by_me = n == lanes ? go(Full{}) : n == lanes / 2 ? go(Half{}) : go(n);
                    else
                        learned_by_me = go(One{});
                    me.done = std::min(me.done, learned_by_me);
                }
            });
        };
        std::visit(
            [&](const auto& rows) {
                const double *targets = y + from * q, *weights = weight ? weight + from : nullptr;
                if (alone)
                    share_out(Stretch{rows, targets, q, weights, pace.data(), t});
                else
                    share_out(Stretch{X.listed(rows), targets, q, weights, pace.data(), t});
            },
            part);
        for (const Thread& one : team)
            if (one.done < to) learned = std::min(learned, one.done);
    }
    if (copies) parallel(threads, [&](unsigned k) { team[k].own.give_back(); });
    return learned;
}

}  // namespace streamsieve
