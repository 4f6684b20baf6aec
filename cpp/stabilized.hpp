// Stabilized truncated SGD ([Ma] Algorithm 4): M paths over the same block of rows, each in its own order.
//
// Only features that have been seen, and are stable, have a slot. A block is translated once for all paths:
// features to slots, values to the features' units, what is purged left out. A path then walks its rows at
// O(stable nnz q) each; a burst that ends costs O(q) for each slot it touched; a stage that ends, O(1) for
// each of its (burst, slot) pairs, which are all that the selection and the gravity are made from. All paths
// are at the same place of the same stage at any time, so threads meet only where a stage ends, and whatever
// the paths share is written there, by one of them: their number does not change a bit of the result.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "parallel.hpp"
#include "sgd.hpp"

namespace streamsieve {

// What stays the same for all rows.
struct Stabilizing {
    double K, bursts, rejection, gamma, threshold, evidence, alpha;  // K_0, n_K, beta_0, gamma, pi_0, delta_K
    double budget;                                                   // k, or 0
    double eta;                                                      // the user's, or 0: derived
    Schedule schedule;
    bool intercept;
};

// Numbers that all paths share; learners/stabilized.py lists the same names in the same order.
struct StageClock {
    double filled, bursts, stage;     // rows of the unfinished burst, bursts of the stage, stages
    double K, gravity, rejection;     // as of the current stage
    double size, dead, seen, weight;  // slots, those purged among them, features ever seen, total weight
    double blocks;
};

// Numbers of one path, then its q intercepts.
struct PathHead {
    Clock clock;
    double touched, records;
    double* bias() { return &records + 1; }
};

// Of a feature: bursts that saw it and bursts that left it non-zero since it was last judged ([Ma] (16);
// the first negative where they have been), and its selection probability when it was.
struct Tally {
    double seen, kept, probability;
};

// Rows that the mean norm behind a derived step looks back: as features go, steps grow.
constexpr double path_memory = 256;

struct StableState {
    StageClock* clock;
    Index p;
    std::int32_t* slot;   // by feature: 1 + slot, 0 unseen, -1 purged
    std::int64_t* id;     // by slot
    std::uint8_t* alive;  // 0 purged, 1 stable
    Tally* tally;
    Values* values;  // null: in the units of the data
    double* unit;    // (2,): 1 / root mean square of the feature's values, and its deviation in that unit
    Index room;      // slots that there is room for
    // by path
    PathHead* head;
    Index head_width;  // doubles
    double* weights;   // by slot: times seen in the burst, weights, weights when it began
    Index width;
    std::int32_t* touched;
    double* change;       // of a burst's slot: |change| / times seen
    std::int32_t* which;  // the slot, ~slot where it was left at zero
    Index records;        // room for these two
    Index paths;

    PathHead& path(Index m) const {
        return *reinterpret_cast<PathHead*>(reinterpret_cast<double*>(head) + m * head_width);
    }
    double* cell(Index m, Index s) const { return weights + (m * room + s) * width; }
};

// Where threads meet. Stages are short, so they look for each other a while before they sleep.
class Meeting {
  public:
    explicit Meeting(unsigned threads) : threads_(threads) {}
    void wait() {
        if (threads_ == 1) return;
        const unsigned round = round_.load(std::memory_order_acquire);
        if (there_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            there_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            round_.notify_all();
            return;
        }
        for (int look = 0; look < 20'000; ++look)
            if (round_.load(std::memory_order_acquire) != round) return;
        while (round_.load(std::memory_order_acquire) == round) round_.wait(round);
    }

  private:
    unsigned threads_;
    alignas(128) std::atomic<unsigned> there_{0};
    alignas(128) std::atomic<unsigned> round_{0};
};

// ---------------------------------------------------------------- a block in slots

// Entries start[i], ..., start[i] + length[i] - 1 are row i.
struct Translated {
    std::vector<Index> start, length;
    std::unique_ptr<std::int32_t[]> slot;
    std::unique_ptr<double[]> value;
};

// Rows are shared out among threads where slots are looked up, slots where moments are taken, each slot's in
// the order of the rows; slots of new features are given by one thread, in that order too.
template <class Rows>
class Translator {
  public:
    // Rows which[0], ..., which[rows - 1] of X, or the first ones.
    Translator(const StableState& state, const Rows& X, Index rows, const std::int64_t* which,
               const double* weight)
        : state_(state), c(*state.clock), X_(X), rows_(rows), which_(which), weight_(weight) {}

    Translated block(unsigned threads) {
        out_.length.resize(std::size_t(rows_));
        Index n = 0;
        for (Index i = 0; i < rows_; ++i) {
            out_.start.push_back(n);
            n += room(row(i));
            c.weight += weight(i);
        }
        // not filled: most of it is never touched, once most features are purged
        out_.slot = std::make_unique_for_overwrite<std::int32_t[]>(std::size_t(n));
        out_.value = std::make_unique_for_overwrite<double[]>(std::size_t(n));
        threads = unsigned(std::clamp(n / least_share, Index(1), Index(threads)));
        unseen_.resize(threads);
        Meeting meeting(threads);
        parallel(threads, [&](unsigned t) {
            const Index from = share(rows_, t, threads), to = share(rows_, t + 1, threads);
            Index at = from < rows_ ? out_.start[std::size_t(from)] : n;
            for (Index i = from; i < to; ++i) {
                out_.start[std::size_t(i)] = at;
                look_up(row(i), i, unseen_[t]);
                at += out_.length[std::size_t(i)];
            }
            meeting.wait();
            if (t == 0) add_unseen();
            meeting.wait();
            for (const Unseen& e : unseen_[t]) out_.slot[std::size_t(e.entry)] = state_.slot[e.feature] - 1;
            if (!state_.values) return;
            meeting.wait();
            const Index size = Index(c.size);
            measure(share(size, t, threads), share(size, t + 1, threads));
            meeting.wait();
            for (Index i = from; i < to; ++i) scale(i);
        });
        return std::move(out_);
    }

  private:
    struct Unseen {
        Index entry, feature;
    };
    static constexpr Index least_share = 20'000;  // entries that are worth a thread

    static Index share(Index n, unsigned t, unsigned threads) { return n * Index(t) / Index(threads); }
    auto row(Index i) const { return X_[which_ ? Index(which_[i]) : i]; }
    double weight(Index i) const { return weight_ ? weight_[i] : 1; }

    // Entries of a row, at most. New features of a dense one get their slots here, and only slots are looked
    // at later; those of a sparse one where they are looked up.
    template <class T, class I>
    Index room(const CsrRow<T, I>& row) {
        return row.length;
    }
    template <class T>
    Index room(const DenseRow<T>& row) {
        if (Index(c.seen) < row.length)
            for (Index j = 0; j < row.length; ++j)
                if (row.x[j] != 0 && state_.slot[j] == 0) add(j);
        return Index(c.size);
    }

    template <class T, class I>
    void look_up(const CsrRow<T, I>& row, Index i, std::vector<Unseen>& unseen) {
        const std::int32_t* slot = state_.slot;
        const Index start = out_.start[std::size_t(i)];
        std::int32_t* at = out_.slot.get() + start;
        double* x = out_.value.get() + start;
        const I* j = row.j;
        const T* values = row.x;
        const bool wide = state_.p > 1 << 16;  // beyond the caches: ask beforehand
        Index kept = 0, n = 0;
        for (Index e = 0; e < row.length; ++e) {  // no branch: which are purged cannot be guessed
            if (wide) prefetch(slot + row.soon(e));
            at[kept] = std::int32_t(e);
            kept += slot[j[e]] >= 0;
        }
        for (Index e = 0; e < kept; ++e) {
            const Index feature = Index(j[at[e]]);
            const double value = double(values[at[e]]);
            const std::int32_t s = slot[feature];
            if (value == 0) continue;
            if (s == 0) unseen.push_back({start + n, feature});
            at[n] = s - 1;
            x[n++] = value;
        }
        out_.length[std::size_t(i)] = n;
    }
    // Features that later rows brought are zero in this one.
    template <class T>
    void look_up(const DenseRow<T>& row, Index i, std::vector<Unseen>&) {
        const Index start = out_.start[std::size_t(i)], size = Index(c.size);
        std::int32_t* at = out_.slot.get() + start;
        double* x = out_.value.get() + start;
        Index n = 0;
        for (Index s = 0; s < size; ++s) {
            const double value = double(row.x[state_.id[s]]);
            if (value == 0 || state_.alive[s] == 0) continue;
            at[n] = std::int32_t(s);
            x[n++] = value;
        }
        out_.length[std::size_t(i)] = n;
    }

    void add_unseen() {
        for (const auto& part : unseen_)
            for (const Unseen& e : part)
                if (state_.slot[e.feature] == 0) add(e.feature);
    }
    void add(Index j) {
        const Index s = Index(c.size);
        c.size += 1;
        c.seen += 1;
        state_.id[s] = j;
        state_.alive[s] = 1;
        state_.tally[s] = {0, 0, 1};
        state_.unit[2 * s] = state_.unit[2 * s + 1] = 1;
        if (state_.values) state_.values[s] = {0, 0, 0, 0};
        for (Index m = 0; m < state_.paths; ++m) std::fill_n(state_.cell(m, s), state_.width, 0.0);
        state_.slot[j] = std::int32_t(s + 1);
    }

    // Moments and units of the slots from a to b that the block has.
    void measure(Index a, Index b) {
        std::vector<std::uint8_t> met(std::size_t(b - a), 0);
        for (Index i = 0; i < rows_; ++i) {
            const double r = weight(i);
            const Index start = out_.start[std::size_t(i)], n = out_.length[std::size_t(i)];
            const std::int32_t* at = out_.slot.get() + start;
            const double* x = out_.value.get() + start;
            for (Index e = 0; e < n; ++e) {
                const Index s = at[e];
                if (s < a || s >= b) continue;
                state_.values[s].take(x[e], r);
                met[std::size_t(s - a)] = 1;
            }
        }
        for (Index s = a; s < b; ++s) {
            if (!met[std::size_t(s - a)]) continue;
            const Values& f = state_.values[s];
            const double square = f.square(), unit = square > 0 ? std::sqrt(f.n / square) : 0;
            state_.unit[2 * s] = unit;
            state_.unit[2 * s + 1] = std::sqrt(f.spread(c.weight, 1 / c.weight) / c.weight) * unit;
        }
    }
    void scale(Index i) {
        const std::size_t start = std::size_t(out_.start[std::size_t(i)]);
        for (std::size_t e = start; e < start + std::size_t(out_.length[std::size_t(i)]); ++e)
            out_.value[e] *= state_.unit[2 * out_.slot[e]];
    }

    const StableState& state_;
    StageClock& c;
    const Rows& X_;
    Index rows_;
    const std::int64_t* which_;
    const double* weight_;
    Translated out_;
    std::vector<std::vector<Unseen>> unseen_;
};

// Slots of purged features go to others, once they are an eighth of all.
class Compaction {
  public:
    explicit Compaction(const StableState& state) : state_(state), c(*state.clock) {}
    void run() {
        if (c.dead == 0 || 8 * c.dead < c.size) return;
        const Index size = Index(c.size);
        std::vector<std::int32_t> to(static_cast<std::size_t>(size), -1);
        Index n = 0;
        for (Index s = 0; s < size; ++s) {
            if (!state_.alive[s]) continue;
            to[std::size_t(s)] = std::int32_t(n);
            if (s != n) move(s, n);
            ++n;
        }
        for (Index m = 0; m < state_.paths; ++m) rename(m, to);
        c.size = double(n);
        c.dead = 0;
    }

  private:
    void move(Index s, Index n) {
        state_.id[n] = state_.id[s];
        state_.slot[state_.id[n]] = std::int32_t(n + 1);
        state_.alive[n] = 1;
        state_.tally[n] = state_.tally[s];
        std::copy_n(state_.unit + 2 * s, 2, state_.unit + 2 * n);
        if (state_.values) state_.values[n] = state_.values[s];
        for (Index m = 0; m < state_.paths; ++m)
            std::copy_n(state_.cell(m, s), state_.width, state_.cell(m, n));
    }
    // What an unfinished burst and stage have noted: purges come where a stage ends, so that all of it is
    // about slots that are alive.
    void rename(Index m, const std::vector<std::int32_t>& to) {
        PathHead& path = state_.path(m);
        std::int32_t* touched = state_.touched + m * state_.room;
        for (Index e = 0; e < Index(path.touched); ++e) touched[e] = to[std::size_t(touched[e])];
        std::int32_t* which = state_.which + m * state_.records;
        for (Index e = 0; e < Index(path.records); ++e)
            which[e] = which[e] < 0 ? ~to[std::size_t(~which[e])] : to[std::size_t(which[e])];
    }

    const StableState& state_;
    StageClock& c;
};

// ---------------------------------------------------------------- a path

template <class Loss, class Q>
class PathWalk {
  public:
    PathWalk(const StableState& state, const Stabilizing& rule, Q q, Index m, Index longest)
        : state_(state),
          q_(q),
          m_(m),
          head_(state.path(m)),
          step_{rule.eta, rule.schedule, 0, rule.intercept, &head_.clock, path_memory},
          dead_(state.clock->dead),
          at_(std::size_t(longest) + 1),
          value_(std::size_t(longest) + 1),
          slope_(2 * std::size_t(Index(q))) {}

    // Algorithm 3: rows of the block, in this path's order, from the place in the burst that the clock says.
    // False where a step would overflow.
    bool walk(const Translated& X, const double* y, const double* weight, const std::int32_t* order, Index n,
              Index filled, Index K, double gravity) {
        for (Index t = 0; t < n; ++t) {
            const Index i = order[t];
            if (!learn(X, i, y + i * q_, weight ? weight[i] : 1)) return false;
            if (++filled == K) {
                truncate(gravity);
                filled = 0;
            }
        }
        return true;
    }

  private:
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
        double *m = slope_.data(), *d = m + q_;
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
        double* bias = head_.bias();
        const double slope = slopes(Loss{}, q_, m, 1.0, bias, y, r, d);
        const auto eta = step_.next(norm, r, Loss::curvature);
        if (!eta.fits(slope, norm)) return false;
        for (Index o = 0; o < q_; ++o) {
            bias[o] -= eta.bias * d[o];
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

    // Algorithm 2: the burst ends; each feature it saw is pulled to zero by gravity times the times seen.
    void truncate(double gravity) {
        const std::int32_t* touched = state_.touched + m_ * state_.room;
        double* change = state_.change + m_ * state_.records + Index(head_.records);
        std::int32_t* which = state_.which + m_ * state_.records + Index(head_.records);
        const Index n = Index(head_.touched);
        for (Index e = 0; e < n; ++e) {
            const std::int32_t s = touched[e];
            double* cell = state_.cell(m_, s);
            const double seen = cell[0], spread = state_.unit[2 * s + 1];
            // a feature that does not vary cannot be told from the intercept
            const double pull =
                spread > 0 ? gravity * seen / spread : std::numeric_limits<double>::infinity();
            double most = 0, left = 0;
            for (Index o = 0; o < q_; ++o) {
                double& w = cell[1 + o];
                most = std::max(most, std::abs(w - cell[1 + q_ + o]));
                w = std::copysign(std::max(std::abs(w) - pull, 0.0), w);
                left = std::max(left, std::abs(w));
            }
            change[e] = most * spread / seen;
            which[e] = left > 0 ? s : ~s;
            cell[0] = 0;
        }
        head_.records += double(n);
        head_.touched = 0;
    }

    const StableState& state_;
    Q q_;
    Index m_;
    PathHead& head_;
    StepSize step_;
    double dead_;  // when the block began
    std::vector<std::int32_t> at_;
    std::vector<double> value_, slope_;
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
        c.rejection =
            rule_.gamma >= 0
                ? rule_.rejection * (std::exp(-rule_.gamma * gone) - gone * std::exp(-rule_.gamma))
                : rule_.rejection * std::log(1 - rule_.gamma * (1 - gone)) / std::log(1 - rule_.gamma);
        if (kept > 0) c.K = std::max(rule_.K, std::ceil(rule_.K * std::log(1 / (rule_.alpha * kept))));
        weigh();
        for (Index m = 0; m < state_.paths; ++m) state_.path(m).records = 0;
    }

  private:
    // Features that are left at the end: the budget, or one.
    double least() const { return std::max(1.0, rule_.budget); }

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
            if (t.seen <= rule_.evidence) return;
            t.probability = t.kept / t.seen;
            t.seen = -t.seen;
            if (t.probability < rule_.threshold) unstable_.push_back(s);
        });
    }

    // (9), (10). With a budget no more than leaves k: first the least probable, of these the smallest
    // weights.
    void purge() {
        const double most = c.size - c.dead - rule_.budget;
        if (rule_.budget > 0 && double(unstable_.size()) > most) {
            const auto last = unstable_.begin() + Index(std::max(0.0, most));
            std::vector<double> size(static_cast<std::size_t>(c.size));
            for (const std::int32_t s : unstable_) size[std::size_t(s)] = weight(s);
            std::sort(unstable_.begin(), unstable_.end(), [&](std::int32_t a, std::int32_t b) {
                const double pa = state_.tally[a].probability, pb = state_.tally[b].probability;
                const double wa = size[std::size_t(a)], wb = size[std::size_t(b)];
                return pa != pb ? pa < pb : wa != wb ? wa < wb : state_.id[a] > state_.id[b];
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
        return most * state_.unit[2 * s + 1];
    }

    // (11): the rejection rate's quantile of the stage's changes, over what is still stable. The leading bits
    // tell where it must be, and then few are left.
    void weigh() {
        constexpr int shift = 64 - 15;  // sign, exponent, three bits of the mantissa
        counts_.assign(std::size_t(1) << 14, 0);
        Index n = 0;
        each([&](Index m, Index e, std::int32_t s, bool) {
            if (!state_.alive[s]) return;
            ++counts_[std::bit_cast<std::uint64_t>(state_.change[m * state_.records + e]) >> shift];
            ++n;
        });
        if (n == 0) return;
        Index rank = std::min(n - 1, Index(c.rejection * double(n)));
        std::uint64_t bin = 0;
        for (; rank >= Index(counts_[bin]); ++bin) rank -= Index(counts_[bin]);
        near_.clear();
        each([&](Index m, Index e, std::int32_t s, bool) {
            const double change = state_.change[m * state_.records + e];
            if (state_.alive[s] && std::bit_cast<std::uint64_t>(change) >> shift == bin)
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

// ---------------------------------------------------------------- a block

// All paths over one block, path m in the order order[m * rows ...]; writes a line about each stage that
// ends, and how many did. Returns the rows learned: fewer than there are where the next step would overflow.
template <class Loss, class Q>
Index stabilized(const Translated& X, Index rows, Loss, Q q, const double* y, const double* weight,
                 const std::int32_t* order, const StableState& state, const Stabilizing& rule,
                 unsigned threads, double* stages, Index& ended) {
    StageClock& c = *state.clock;
    const Index longest = X.length.empty() ? 0 : *std::max_element(X.length.begin(), X.length.end());
    StageEnd<Q> stage(state, rule, q);
    threads = unsigned(std::max(Index(1), std::min(Index(threads), state.paths)));
    Meeting meeting(threads);
    std::atomic<bool> fits{true};
    Index at = 0, to = 0;
    const auto next = [&] {  // rows to the end of the stage
        const Index left = Index((rule.bursts - c.bursts) * c.K - c.filled);
        to = std::min(rows, at + left);
    };
    const auto turn = [&] {
        const Index filled = Index(c.filled) + to - at, K = Index(c.K);
        c.filled = double(filled % K);
        c.bursts += double(filled / K);
        if (c.bursts >= rule.bursts) {
            stage.run();
            const double line[] = {c.stage, c.size - c.dead, c.gravity, c.rejection, c.K};
            std::copy_n(line, 5, stages + 5 * ended++);
        }
        at = to;
        next();
    };
    ended = 0;
    next();
    parallel(threads, [&](unsigned t) {
        const Index first = state.paths * Index(t) / Index(threads);
        const Index last = state.paths * Index(t + 1) / Index(threads);
        std::vector<PathWalk<Loss, Q>> walks;
        for (Index m = first; m < last; ++m) walks.emplace_back(state, rule, q, m, longest);
        while (at < rows) {
            for (Index m = first; m < last; ++m)
                if (!walks[std::size_t(m - first)].walk(X, y, weight, order + m * rows + at, to - at,
                                                        Index(c.filled), Index(c.K), c.gravity))
                    fits.store(false, std::memory_order_relaxed);
            meeting.wait();
            if (!fits.load(std::memory_order_relaxed)) return;
            if (t == 0) turn();
            meeting.wait();
        }
    });
    if (!fits) return at;
    c.blocks += 1;
    return rows;
}

}  // namespace streamsieve
