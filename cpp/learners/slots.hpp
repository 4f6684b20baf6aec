// What stabilized truncated SGD knows of its features and paths, and a block of rows in its terms.
//
// Only features that have been seen, and are stable, have a slot. A block is translated once for all paths:
// features to slots, values to the features' units, what is purged left out.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/steps.hpp"
#include "core/units.hpp"

namespace streamsieve {

// Numbers that all paths share. learners/paths.py lists the same names in the same order, as of the next
// three.
struct StageClock {
    double filled, bursts, stage;           // rows of the unfinished burst, bursts of the stage, stages
    double burst_size, gravity, rejection;  // as of the current stage: K, g_0, beta
    double size, dead, seen, weight;  // slots, those purged among them, features ever seen, total weight
    double blocks;
};

// Numbers of one path.
struct PathHead {
    Clock clock;
    double touched, records;  // slots that its burst has touched, changes that its stage has recorded
};

// Of a feature: bursts that saw it and bursts that left it non-zero since it was last judged ([Ma] (16);
// the first negative where they have been), and its selection probability when it was.
struct Tally {
    double seen, kept, probability;
};

// 1 / root mean square of a feature's values, and its deviation in that unit.
struct Unit {
    double scale, deviation;
};

struct StableState {
    StageClock* clock;
    Index p;
    std::int32_t* slot;   // by feature: 1 + slot, 0 unseen, -1 purged
    std::int64_t* id;     // by slot
    std::uint8_t* alive;  // 0 purged, 1 stable
    Tally* tally;
    Values* values;  // null: in the units of the data
    Unit* unit;
    Index room;  // slots that there is room for
    // by path
    PathHead* head;
    double* bias;     // q of each
    double* weights;  // by slot: times seen in the burst, weights, weights when it began
    Index width;
    std::int32_t* touched;
    double* change;       // of a burst's slot: |change| / times seen
    std::int32_t* which;  // the slot, ~slot where it was left at zero
    Index records;        // room for these two
    Index paths;

    PathHead& path(Index m) const { return head[m]; }
    double* cell(Index m, Index s) const { return weights + (m * room + s) * width; }
};

// ---------------------------------------------------------------- a block in slots

constexpr double wide_size = 1 << 14;  // slots that are beyond the caches: what comes is asked for beforehand
constexpr Index ahead = 16;            // entries

// Entries start[i], ..., start[i] + length[i] - 1 are row i.
struct Translated {
    std::vector<Index> start, length;
    std::unique_ptr<std::int32_t[]> slot;
    std::unique_ptr<double[]> value;
    Index room = 0, longest = 0;
};

// Rows are shared out among threads where slots are looked up, slots where moments are taken, each slot's in
// the order of the rows; slots of new features are given by one thread, in that order too.
class Translator {
  public:
    Translator(const StableState& state, Index n, const double* weight)
        : rows(n), state_(state), c(*state.clock), weight_(weight) {}
    virtual ~Translator() = default;

    virtual void share_among(unsigned threads) {
        threads_ = threads;
        own_ = std::vector<Scratch>(threads);
    }

    // Entries of rows a to b, at most.
    virtual Index entries(Index a, Index b) const = 0;

    // Rows a to b are the next block. By one thread.
    void begin(Index a, Index b) {
        first_ = a;
        n_ = b - a;
        out_.start.resize(std::size_t(n_));
        out_.length.resize(std::size_t(n_));
        Index n = 0;
        out_.longest = 0;
        for (Index i = 0; i < n_; ++i) {
            out_.start[std::size_t(i)] = n;
            const Index most = room(a + i);
            out_.longest = std::max(out_.longest, most);
            n += most;
            c.weight += weight(i);
        }
        if (n > out_.room) {  // not filled: most of it is never touched, once most features are purged
            out_.slot = std::make_unique_for_overwrite<std::int32_t[]>(std::size_t(n));
            out_.value = std::make_unique_for_overwrite<double[]>(std::size_t(n));
            out_.room = n;
        }
        met_.resize(std::size_t(c.size) + std::size_t(std::min(n, state_.p - Index(c.seen))));
        for (Scratch& own : own_) {  // here, as a thread that meets others must not throw
            own.entries.resize(std::size_t(out_.longest) + 1);
            own.met.reserve(met_.size() / own_.size() + 1);
        }
    }

    // The share of thread t, all of which must come here.
    void translate(unsigned t, Meeting& meeting) {
        const Index from = share(n_, t, threads_), to = share(n_, t + 1, threads_);
        const bool complete = Index(c.seen) == state_.p;
        if (from < to) look_up(t, from, to, out_.start[std::size_t(from)]);
        meeting.wait();
        if (!complete) {
            if (t == 0)
                each_unseen(0, n_, [&](std::int32_t j, std::int32_t&) {
                    if (state_.slot[j] == 0) add(j);
                });
            meeting.wait();
            each_unseen(from, to, [&](std::int32_t j, std::int32_t& at) { at = state_.slot[j] - 1; });
            meeting.wait();
        }
        if (!state_.values) return;
        const Index size = Index(c.size);
        measure(share(size, t, threads_), share(size, t + 1, threads_), own_[t]);
        meeting.wait();
        for (Index i = from; i < to; ++i) scale(i);
    }

    const Translated& block() const { return out_; }

    const Index rows;

  protected:
    // Entries of a row, at most.
    virtual Index room(Index row) = 0;
    // Rows from to `to` of the block, whose entries begin at `at`; ~j is the slot of a feature without one.
    // By thread t.
    virtual void look_up(unsigned t, Index from, Index to, Index at) = 0;

    double weight(Index i) const { return weight_ ? weight_[first_ + i] : 1; }

    void add(Index j) {
        const Index s = Index(c.size);
        c.size += 1;
        c.seen += 1;
        state_.id[s] = j;
        state_.alive[s] = 1;
        state_.tally[s] = {0, 0, 1};
        state_.unit[s] = {1, 1};
        if (state_.values) state_.values[s] = {0, 0, 0, 0};
        for (Index m = 0; m < state_.paths; ++m) std::fill_n(state_.cell(m, s), state_.width, 0.0);
        state_.slot[j] = std::int32_t(s + 1);
    }

    const StableState& state_;
    StageClock& c;
    Index first_ = 0, n_ = 0;  // of the block
    Translated out_;

  private:
    // Of one thread.
    struct alignas(128) Scratch {
        std::vector<std::int32_t> entries, met;
    };

    template <class F>
    void each_unseen(Index from, Index to, F&& f) {
        for (Index i = from; i < to; ++i) {
            std::int32_t* at = out_.slot.get() + out_.start[std::size_t(i)];
            const Index n = out_.length[std::size_t(i)];
            for (Index e = 0; e < n; ++e) {
                if (at[e] >= 0) continue;
                const std::int32_t soon = at[std::min(e + ahead, n - 1)];
                if (soon < 0) prefetch(state_.slot + ~soon);
                f(~at[e], at[e]);
            }
        }
    }

    // Moments and units of the slots from a to b that the block has.
    void measure(Index a, Index b, Scratch& own) {
        own.met.clear();
        const bool all = threads_ == 1, wide = c.size > wide_size;
        const auto add_value = [&](std::int32_t s, double x, double r) {
            state_.values[s].add(x, r);
            if (met_[std::size_t(s)]) return;
            met_[std::size_t(s)] = 1;
            own.met.push_back(s);
        };
        for (Index i = 0; i < n_; ++i) {
            const double r = weight(i);
            const Index start = out_.start[std::size_t(i)], n = out_.length[std::size_t(i)];
            const std::int32_t* at = out_.slot.get() + start;
            const double* x = out_.value.get() + start;
            if (all) {
                for (Index e = 0; e < n; ++e) {
                    if (wide) prefetch(state_.values + at[std::min(e + ahead, n - 1)]);
                    add_value(at[e], x[e], r);
                }
                continue;
            }
            std::int32_t* mine = own.entries.data();
            Index kept = 0;
            for (Index e = 0; e < n; ++e) {  // no branch: whose a slot is cannot be guessed
                mine[kept] = std::int32_t(e);
                kept += at[e] >= a && at[e] < b;
            }
            for (Index e = 0; e < kept; ++e) {
                if (wide) prefetch(state_.values + at[mine[std::min(e + ahead, kept - 1)]]);
                add_value(at[mine[e]], x[mine[e]], r);
            }
        }
        const std::int32_t* met = own.met.data();
        const Index n_met = Index(own.met.size());
        for (Index e = 0; e < n_met; ++e) {
            if (wide) {
                const std::int32_t soon = met[std::min(e + ahead, n_met - 1)];
                prefetch(state_.values + soon);
                prefetch(state_.unit + soon);
            }
            const std::int32_t s = met[e];
            const Values& f = state_.values[s];
            const double square = f.square(), unit = square >= least_square ? std::sqrt(f.n / square) : 0;
            state_.unit[s] = {unit, std::sqrt(f.scatter(c.weight) / c.weight) * unit};
            met_[std::size_t(s)] = 0;
        }
    }
    void scale(Index i) {
        const Index n = out_.length[std::size_t(i)];
        const std::int32_t* at = out_.slot.get() + out_.start[std::size_t(i)];
        double* x = out_.value.get() + out_.start[std::size_t(i)];
        const bool wide = c.size > wide_size;
        for (Index e = 0; e < n; ++e) {
            if (wide) prefetch(state_.unit + at[std::min(e + ahead, n - 1)]);
            x[e] *= state_.unit[at[e]].scale;
        }
    }

    const double* weight_;
    unsigned threads_ = 1;
    std::vector<Scratch> own_;
    std::vector<std::uint8_t> met_;  // by slot: whether the block has it; all 0 between blocks
};

template <class Rows>
class TranslatorOf final : public Translator {
  public:
    TranslatorOf(const StableState& state, const Rows& X, Index n, const double* weight)
        : Translator(state, n, weight), X_(1, X) {}

    void share_among(unsigned threads) override {
        Translator::share_among(threads);
        X_ = std::vector<Rows>(threads, X_.front());
    }
    Index entries(Index a, Index b) const override {
        Index n = 0;
        for (Index i = a; i < b; ++i) n += X_[0].room(i);
        return n;
    }

  private:
    // New features of a dense row get their slots here, and only slots are looked at later; those of a sparse
    // one where they are looked up.
    Index room(Index i) override {
        const Rows& X = X_[0];
        if constexpr (requires { X[0].j; }) {
            return X.room(i);
        } else {
            const auto row = X[i];
            if (Index(c.seen) < row.length)
                for (Index j = 0; j < row.length; ++j)
                    if (row.value(j) != 0 && state_.slot[j] == 0) add(j);
            return Index(c.size);
        }
    }

    void look_up(unsigned t, Index from, Index to, Index at) override {
        for (Index i = from; i < to; ++i) {
            out_.start[std::size_t(i)] = at;
            look_up(X_[t][first_ + i], i);
            at += out_.length[std::size_t(i)];
        }
    }

    template <class T, class I>
    void look_up(const CsrRow<T, I>& row, Index i) {
        const std::int32_t* slot = state_.slot;
        const Index start = out_.start[std::size_t(i)];
        std::int32_t* at = out_.slot.get() + start;
        double* x = out_.value.get() + start;
        const I* j = row.j;
        const T* values = row.x;
        const bool wide = state_.p > 1 << 16;  // beyond the caches: ask beforehand
        Index kept = 0, n = 0;
        for (Index e = 0; e < row.length; ++e) {  // no branch: which are purged cannot be guessed
            if (wide) prefetch(slot + row.index(e + row.ahead(e)));
            at[kept] = std::int32_t(e);
            kept += slot[j[e]] >= 0;
        }
        for (Index e = 0; e < kept; ++e) {
            const Index feature = Index(j[at[e]]);
            const double value = double(values[at[e]]);
            const std::int32_t s = slot[feature];
            if (value == 0) continue;
            at[n] = s > 0 ? s - 1 : ~std::int32_t(feature);
            x[n++] = value;
        }
        out_.length[std::size_t(i)] = n;
    }
    // Features that later rows brought are zero in this one.
    template <class DenseRow>
    void look_up(const DenseRow& row, Index i) {
        const Index start = out_.start[std::size_t(i)], size = Index(c.size);
        std::int32_t* at = out_.slot.get() + start;
        double* x = out_.value.get() + start;
        Index n = 0;
        for (Index s = 0; s < size; ++s) {
            const double value = row.value(state_.id[s]);
            if (value == 0 || state_.alive[s] == 0) continue;
            at[n] = std::int32_t(s);
            x[n++] = value;
        }
        out_.length[std::size_t(i)] = n;
    }

    std::vector<Rows> X_;  // of each thread its own, which may hold a row
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
        state_.unit[n] = state_.unit[s];
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

}  // namespace streamsieve
