// Stabilized truncated SGD ([Ma] Algorithm 4): M paths over the same blocks of rows, each in its own order.
//
// A path walks the rows of a block, translated to slots, at O(stable nnz q) each; a burst that ends costs
// O(q) for each slot it touched; a stage that ends, O(1) for each of its (burst, slot) pairs, which are all
// that the selection and the gravity are made from. All paths are at the same place of the same stage at any
// time, so threads meet only where a block or a stage ends, and whatever the paths share is written there, by
// one of them: their number does not change a bit of the result.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/ties.hpp"
#include "learners/sgd.hpp"
#include "learners/slots.hpp"

namespace streamsieve {

// What stays the same for all rows.
struct Stabilizing {
    Loss loss;
    double burst_size, n_bursts, burst_growth;  // K_0, n_K and alpha of [Ma]
    double rejection, rejection_decay;          // beta_0, gamma
    double spared;                              // features whose changes are not rejected, in the mean
    double threshold, min_bursts;               // pi_0, delta_K
    double budget;                              // k, or 0
    bool fixed_gravity;                         // as the clock has it, for all stages
    bool universal;                             // truncate all features alike (Algorithm 1)
    double eta;                                 // the user's, or 0: derived
    Schedule schedule;
    bool fit_intercept;
    Index block_size;
    std::uint64_t seed;
    unsigned threads;
};

// What is known of a stage that has ended.
struct Stage {
    double stage, stable, gravity, rejection, burst_size;
};

// Rows that the mean norm behind a derived step looks back: as features go, steps grow.
constexpr double path_memory = 256;

// SplitMix64 (Steele, Lea and Flood 2014), begun anew for each block and path.
class Random {
  public:
    Random(std::uint64_t seed, std::uint64_t block, std::uint64_t path)
        : state_(mixed(mixed(mixed(seed) + block) + path)) {}
    // An integer below n < 2^32; none is more probable than another by more than n / 2^32 of it.
    std::size_t below(std::uint64_t n) {
        state_ += 0x9e3779b97f4a7c15;
        return std::size_t((mixed(state_) >> 32) * n >> 32);
    }

  private:
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

// ---------------------------------------------------------------- a path

// Numbers that change with every row are copied from the state and back: threads share no cache line of them.
template <class Q>
class alignas(128) PathWalk {
  public:
    PathWalk(const StableState& state, const Stabilizing& rule, Q q, Index m, Index block)
        : state_(state),
          loss_(rule.loss),
          universal_(rule.universal),
          q_(q),
          m_(m),
          step_{rule.eta, rule.schedule, 0, rule.fit_intercept, nullptr, path_memory},
          order_(std::size_t(block)),
          outputs_(3 * std::size_t(Index(q)) + 2 * line) {}

    // Room for the longest row of the next block. By one thread for all paths.
    void reserve(Index longest) {
        dead_ = state_.clock->dead;
        if (std::size_t(longest) < at_.size()) return;
        at_.resize(std::size_t(longest) + 1);
        value_.resize(std::size_t(longest) + 1);
    }
    // A new order of n rows, a function of the seed, the number of the block and the path.
    void shuffle(std::uint64_t seed, Index n) {
        Random random(seed, std::uint64_t(state_.clock->blocks), std::uint64_t(m_));
        std::iota(order_.begin(), order_.begin() + n, 0);
        for (Index i = n - 1; i > 0; --i)
            std::swap(order_[std::size_t(i)], order_[random.below(std::uint64_t(i) + 1)]);
    }

    // Algorithm 3: the rows of the block that come from-th to to-th in this path's order, from the place in
    // the burst that the clock says. False where a step would overflow.
    bool walk(const Translated& X, const double* y, const double* weight, Index from, Index to) {
        const StageClock& c = *state_.clock;
        Index filled = Index(c.filled);
        const Index burst_size = Index(c.burst_size);
        const double gravity = c.gravity;
        head_ = state_.path(m_);
        step_.clock = &head_.clock;
        std::copy_n(state_.bias + m_ * q_, Index(q_), bias());
        for (Index t = from; t < to; ++t) {
            const Index i = order_[std::size_t(t)];
            if (!learn(X, i, y + i * q_, weight ? weight[i] : 1)) return false;
            if (++filled == burst_size) {
                truncate(gravity);
                filled = 0;
            }
        }
        state_.path(m_) = head_;
        std::copy_n(bias(), Index(q_), state_.bias + m_ * q_);
        return true;
    }

  private:
    static constexpr std::size_t line = 16;  // doubles apart from what others write

    double* bias() { return outputs_.data() + line; }

    bool learn(const Translated& X, Index i, const double* y, double r) {
        const Index from = X.start[std::size_t(i)];
        Index n = X.length[std::size_t(i)];
        const std::int32_t* at = X.slot.get() + from;
        const double* x = X.value.get() + from;
        if (state_.clock->dead > dead_) {  // some have been purged since the block was translated
            n = leave_out(n, at, x);
            at = at_.data();
            x = value_.data();
        }
        double* cells = state_.weights + m_ * state_.room * state_.width;
        const Index width = std::is_same_v<Q, One> ? 4 : state_.width;
        double *b = bias(), *m = b + q_, *d = m + q_;
        if (state_.clock->size > wide_size)
            for (Index e = 0; e < n; ++e) prefetch(cells + at[e] * width);
        Norm norm;
        square_norm(x, n, norm.square, norm.count);
        for (Index o = 0; o < q_; ++o) m[o] = 0;
        if constexpr (std::is_same_v<Q, One>) {
            // four sums, or the latency of one addition after the other is the time of the loop
            double a[4] = {0, 0, 0, 0};
            Index e = 0;
            for (; e + 4 <= n; e += 4)
                for (Index lane = 0; lane < 4; ++lane)
                    a[lane] += x[e + lane] * cells[at[e + lane] * width + 1];
            for (; e < n; ++e) a[0] += x[e] * cells[at[e] * width + 1];
            *m = (a[0] + a[1]) + (a[2] + a[3]);
        } else {
            for (Index e = 0; e < n; ++e) {
                const double* w = cells + at[e] * width + 1;
                for (Index o = 0; o < q_; ++o) m[o] += x[e] * w[o];
            }
        }
        const double slope = slopes(loss_, q_, m, 1.0, b, y, r, d);
        const auto eta = step_.next(norm, r, loss_.curvature);
        if (!eta.fits(slope, norm)) return false;
        for (Index o = 0; o < q_; ++o) {
            b[o] -= eta.bias * d[o];
            d[o] *= -eta.weights;
        }
        // a feature counts as seen whether the loss asks for a step or not
        std::int32_t* touched = state_.touched + m_ * state_.room;
        Index met = Index(head_.touched);
        const double step = *d;
        for (Index e = 0; e < n; ++e) {
            double* cell = cells + at[e] * width;
            touched[met] = at[e];
            const bool first = cell[0] == 0;
            met += first;
            cell[0] += 1;
            if constexpr (std::is_same_v<Q, One>) {
                const double w = cell[1];
                cell[2] = first ? w : cell[2];
                cell[1] = w + x[e] * step;
            } else {
                for (Index o = 0; o < q_; ++o) {
                    double& w = cell[1 + o];
                    cell[1 + q_ + o] = first ? w : cell[1 + q_ + o];
                    w += x[e] * d[o];
                }
            }
        }
        head_.touched = double(met);
        return true;
    }
    Index leave_out(Index n, const std::int32_t* at, const double* x) {
        const std::uint8_t* alive = state_.alive;
        std::int32_t* to = at_.data();
        double* value = value_.data();
        Index kept = 0;
        for (Index e = 0; e < n; ++e) {
            to[kept] = at[e];
            value[kept] = x[e];
            kept += alive[at[e]];
        }
        return kept;
    }

    // Algorithm 2: the burst ends; each feature it saw is pulled to zero by gravity times the times seen, and
    // in Algorithm 1 every feature by gravity times the rows of the burst: O(q) for each slot.
    void truncate(double gravity) {
        const double rows = state_.clock->burst_size;
        if (universal_)
            for (Index s = 0; s < Index(state_.clock->size); ++s)
                if (double* cell = state_.cell(m_, s); cell[0] == 0)
                    shrink(cell, gravity * rows, state_.unit[s].deviation);
        const std::int32_t* touched = state_.touched + m_ * state_.room;
        double* change = state_.change + m_ * state_.records + Index(head_.records);
        std::int32_t* which = state_.which + m_ * state_.records + Index(head_.records);
        const Index n = Index(head_.touched);
        for (Index e = 0; e < n; ++e) {
            const std::int32_t s = touched[e];
            double* cell = state_.cell(m_, s);
            const double seen = cell[0], spread = state_.unit[s].deviation;
            double most = 0;
            for (Index o = 0; o < q_; ++o) most = std::max(most, std::abs(cell[1 + o] - cell[1 + q_ + o]));
            change[e] = most * spread / seen;
            which[e] = shrink(cell, gravity * (universal_ ? rows : seen), spread) > 0 ? s : ~s;
            cell[0] = 0;
        }
        head_.records += double(n);
        head_.touched = 0;
    }

    // Brings the weights closer to zero by `gravity` in units of the deviation; the largest that is left. A
    // feature that does not vary cannot be told from the intercept.
    double shrink(double* cell, double gravity, double deviation) const {
        const double pull = deviation > 0 ? gravity / deviation : std::numeric_limits<double>::infinity();
        double left = 0;
        for (Index o = 0; o < q_; ++o) {
            double& w = cell[1 + o];
            w = std::copysign(std::max(std::abs(w) - pull, 0.0), w);
            left = std::max(left, std::abs(w));
        }
        return left;
    }

    const StableState& state_;
    const Loss loss_;
    const bool universal_;
    Q q_;
    Index m_;
    PathHead head_{};
    StepSize step_;
    double dead_ = 0;  // when the block began
    std::vector<std::int32_t> order_, at_;
    std::vector<double> value_, outputs_;  // of the q outputs: intercepts, margins, slopes
};

// ---------------------------------------------------------------- the end of a stage

template <class Q>
class StageEnd {
  public:
    StageEnd(const StableState& state, const Stabilizing& rule, Q q)
        : state_(state), rule_(rule), q_(q), c(*state.clock) {}

    void run() {
        judge();
        purge();
        c.stage += 1;
        c.bursts = 0;
        const double stable = c.size - c.dead, kept = c.seen > 0 ? stable / c.seen : 1;
        // (12), d the share purged of those that may be: where no more may go, nothing is rejected
        const double left = c.seen > least() ? (stable - least()) / (c.seen - least()) : 0, gone = 1 - left;
        c.rejection = rule_.rejection_decay >= 0
                          ? rule_.rejection * (std::exp(-rule_.rejection_decay * gone) -
                                               gone * std::exp(-rule_.rejection_decay))
                          : rule_.rejection * std::log(1 - rule_.rejection_decay * (1 - gone)) /
                                std::log(1 - rule_.rejection_decay);
        // of few features most matter
        if (stable > 0) c.rejection = std::min(c.rejection, std::max(0.0, 1 - spared() / stable));
        const double first = rule_.burst_size;
        if (kept > 0)
            c.burst_size = std::max(first, std::ceil(first * std::log(1 / (rule_.burst_growth * kept))));
        if (!rule_.fixed_gravity) weigh();
        for (Index m = 0; m < state_.paths; ++m) state_.path(m).records = 0;
    }

  private:
    // Features that are left at the end: the budget, or one.
    double least() const { return std::max(1.0, rule_.budget); }
    // Features whose changes are not rejected, in the mean.
    double spared() const { return rule_.budget > 0 ? std::min(rule_.spared, rule_.budget) : rule_.spared; }

    template <class F>
    void each(F&& f) {
        for (Index m = 0; m < state_.paths; ++m) {
            const std::int32_t* which = state_.which + m * state_.records;
            const Index n = Index(state_.path(m).records);
            for (Index e = 0; e < n; ++e) f(m, e, which[e] < 0 ? ~which[e] : which[e], which[e] >= 0);
        }
    }

    // (8) and (16): counts of a feature are carried over until there are more than delta_K.
    void judge() {
        each([&](Index, Index, std::int32_t s, bool kept) {
            Tally& t = state_.tally[s];
            if (t.seen < 0) t.seen = t.kept = 0;
            t.seen += 1;
            t.kept += kept;
        });
        unstable_.clear();
        each([&](Index, Index, std::int32_t s, bool) {
            Tally& t = state_.tally[s];
            if (t.seen <= rule_.min_bursts) return;
            t.probability = t.kept / t.seen;
            t.seen = -t.seen;
            if (t.probability < rule_.threshold) unstable_.push_back(s);
        });
    }

    // (9), (10). No more than leaves k, or one: first the least probable, of these the smallest weights.
    void purge() {
        const double most = c.size - c.dead - least();
        if (double(unstable_.size()) > most) {
            const auto last = unstable_.begin() + Index(std::max(0.0, most));
            std::vector<double> size(static_cast<std::size_t>(c.size));
            for (const std::int32_t s : unstable_) size[std::size_t(s)] = weight(s);
            std::sort(unstable_.begin(), unstable_.end(), [&](std::int32_t a, std::int32_t b) {
                const double pa = state_.tally[a].probability, pb = state_.tally[b].probability;
                const double wa = size[std::size_t(a)], wb = size[std::size_t(b)];
                return pa != pb ? pa < pb : ranks_before(wb, state_.id[b], wa, state_.id[a]);
            });
            unstable_.erase(last, unstable_.end());
        }
        for (const std::int32_t s : unstable_) {
            state_.alive[s] = 0;
            state_.slot[state_.id[s]] = -1;
            for (Index m = 0; m < state_.paths; ++m) std::fill_n(state_.cell(m, s), state_.width, 0.0);
        }
        c.dead += double(unstable_.size());
    }

    // The largest of the feature's averaged weights, in units of its deviation.
    double weight(std::int32_t s) const {
        double most = 0;
        for (Index o = 0; o < q_; ++o) {
            double sum = 0;
            for (Index m = 0; m < state_.paths; ++m) sum += state_.cell(m, s)[1 + o];
            most = std::max(most, std::abs(sum));
        }
        return most * state_.unit[s].deviation;
    }

    // (11): the rejection rate's quantile of the stage's changes, over what is still stable. A feature whose
    // rows all had no loss was not updated: with the hinge these are most, and the quantile would be 0. The
    // leading bits tell where it must be, and then few are left.
    void weigh() {
        constexpr int shift = 64 - 15;  // sign, exponent, three bits of the mantissa
        counts_.assign(std::size_t(1) << 14, 0);
        Index n = 0;
        each([&](Index m, Index e, std::int32_t s, bool) {
            const double change = state_.change[m * state_.records + e];
            if (!state_.alive[s] || change == 0) return;
            ++counts_[std::bit_cast<std::uint64_t>(change) >> shift];
            ++n;
        });
        if (n == 0) return;
        Index rank = std::min(n - 1, Index(c.rejection * double(n)));
        std::uint64_t bin = 0;
        for (; rank >= Index(counts_[bin]); ++bin) rank -= Index(counts_[bin]);
        near_.clear();
        each([&](Index m, Index e, std::int32_t s, bool) {
            const double change = state_.change[m * state_.records + e];
            if (state_.alive[s] && change != 0 && std::bit_cast<std::uint64_t>(change) >> shift == bin)
                near_.push_back(change);
        });
        std::nth_element(near_.begin(), near_.begin() + rank, near_.end());
        c.gravity = near_[std::size_t(rank)];
    }

    const StableState& state_;
    const Stabilizing& rule_;
    Q q_;
    StageClock& c;
    std::vector<std::int32_t> unstable_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> near_;
};

// ---------------------------------------------------------------- all blocks

// Rows learned and stages ended; where there was not room for the next block, the room for slots and for
// records that it asks for, else 0. Fewer rows than there are without it: the next step would overflow.
struct Learned {
    Index rows, stages, slots, records;
};

// What takes some 20 microseconds is done before a thread has started.
constexpr Index least_work = 10'000;

// All paths over the rows, block by block; writes a line about each stage that ends.
template <class Q>
class Stabilized {
  public:
    Stabilized(Translator& rows, Q q, const double* y, const double* weight, const StableState& state,
               const Stabilizing& rule, Stage* stages)
        : rows_(rows),
          q_(q),
          y_(y),
          weight_(weight),
          state_(state),
          rule_(rule),
          c(*state.clock),
          threads_(team(rule.threads)),
          meeting_(threads_),
          stage_(state, rule, q),
          stages_(stages) {
        rows.share_among(threads_);
        walks_.reserve(std::size_t(state.paths));
        for (Index m = 0; m < state.paths; ++m)
            walks_.emplace_back(state, rule, q, m, std::min(rule.block_size, rows.rows));
    }

    Learned run() {
        open();
        if (!parallel_meeting(threads_, [this](unsigned t) { work(t); })) {
            threads_ = 1;
            meeting_.reset(1);
            rows_.share_among(1);
            work(0);
        }
        error_.rethrow();
        return out_;
    }

  private:
    // As the first rows tell.
    unsigned team(unsigned threads) const {
        const Index some = std::min(rows_.rows, Index(256));
        const Index work =
            rows_.entries(0, some) * (1 + state_.paths) * rows_.rows / std::max(some, Index(1));
        return unsigned(std::clamp(work / least_work, Index(1), Index(threads)));
    }

    void work(unsigned t) {
        const Index first = share(state_.paths, t, threads_), last = share(state_.paths, t + 1, threads_);
        while (!stop_) {
            if (from_ == 0) {
                for (Index m = first; m < last; ++m)
                    walks_[std::size_t(m)].shuffle(rule_.seed, end_ - begin_);
                rows_.translate(t, meeting_);
                meeting_.wait();
            }
            for (Index m = first; m < last; ++m)
                if (!walks_[std::size_t(m)].walk(rows_.block(), y_ + begin_ * q_,
                                                 weight_ ? weight_ + begin_ : nullptr, from_, to_))
                    sound_.store(false, std::memory_order_relaxed);
            meeting_.wait();
            if (!sound_.load(std::memory_order_relaxed)) return;
            // where memory is lacking, the others must hear of it before it is thrown
            if (t == 0 && !error_.guard([this] { turn(); })) stop_ = true;
            meeting_.wait();
        }
    }

    // The next block, if there is one, and room for it.
    void open() {
        stop_ = begin_ == rows_.rows;
        if (stop_) return;
        Compaction(state_).run();
        end_ = std::min(rows_.rows, begin_ + rule_.block_size);
        if (!fits()) return;
        rows_.begin(begin_, end_);
        for (auto& walk : walks_) walk.reserve(rows_.block().longest);
        from_ = 0;
        next();
    }
    // Whether there is room for the block; if not, what there is to be.
    bool fits() {
        const double unseen = double(state_.p) - c.seen;
        double slots = c.size + 1, records = rule_.n_bursts * slots;
        if (unseen > 0 || records > double(state_.records)) {
            const double entries = double(rows_.entries(begin_, end_));
            double noted = 0;
            for (Index m = 0; m < state_.paths; ++m)
                noted = std::max(noted, state_.path(m).touched + state_.path(m).records);
            slots += std::min(entries, unseen);
            records = std::min(rule_.n_bursts * slots, noted + entries);
        }
        if (slots <= double(state_.room) && records <= double(state_.records)) return true;
        out_.slots = Index(slots);
        out_.records = Index(records);
        stop_ = true;
        return false;
    }
    // Rows to the end of the stage, or of the block.
    void next() {
        to_ = std::min(end_ - begin_, from_ + Index((rule_.n_bursts - c.bursts) * c.burst_size - c.filled));
    }
    void turn() {
        const Index filled = Index(c.filled) + to_ - from_, size = Index(c.burst_size);
        c.filled = double(filled % size);
        c.bursts += double(filled / size);
        if (c.bursts >= rule_.n_bursts) {
            stage_.run();
            stages_[out_.stages++] = {c.stage, c.size - c.dead, c.gravity, c.rejection, c.burst_size};
        }
        from_ = to_;
        out_.rows = begin_ + to_;
        if (out_.rows < end_) return next();
        c.blocks += 1;
        begin_ = end_;
        open();
    }

    Translator& rows_;
    Q q_;
    const double *y_, *weight_;
    const StableState& state_;
    const Stabilizing& rule_;
    StageClock& c;
    unsigned threads_;
    Meeting meeting_;
    StageEnd<Q> stage_;
    Stage* stages_;
    std::vector<PathWalk<Q>> walks_;
    Index begin_ = 0, end_ = 0, from_ = 0, to_ = 0;  // the block; what the paths walk next of it
    bool stop_ = false;
    std::atomic<bool> sound_{true};
    FirstError error_;
    Learned out_{0, 0, 0, 0};
};

}  // namespace streamsieve
