// Who is alive in a model of SFSA, and where its numbers are.
//
// Only features that have been seen, and are alive, have a slot; of all others one number is kept. Features
// never seen have weight 0 and go first, by counting. To find the others that go, all slots must be looked
// at: when batches have twice as many entries, as dense ones have, after each; else not before a quarter of
// them is due, so that a removal costs O(1) amortised. Nothing is O(p) but the zeros of the first layout.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "core/fields.hpp"
#include "core/rows.hpp"
#include "core/ties.hpp"
#include "core/units.hpp"

namespace streamsieve {

// The numbers of a model's state; learners/annealed.py lists the same names in the same order.
struct AnnealedClock {
    double filled, batches, weight;  // rows in the unfinished batch, batches, total weight
    double scale, horizon;           // of the weights; of the doubling trick
    double norm, cross, pairs;       // running mean of |x|^2, of (x'x' / |x|^2)^2 over pairs, how many
    double norms, entries, slope;    // sums of squares and counts for the intercept; rms of slopes
    double trace, mass, count, reach, slopes;  // sums over the unfinished batch
    double first, output, pair, loss;          // slope of its first row; x'x' of its first two; its loss
    double size, limit, unseen, touched;       // slots; unseen features are alive below limit; how many
    double work;                               // entries and slots visited, for those who count
    double step;                               // of the batch that ended last
};

// The head of a slot: the values of its feature, and whether the unfinished batch has met it. Then follow, q
// of each, the weights but for the scale, and the gradient sums of the batch. With one output that is one
// cache line.
struct Slot : Values {
    double unused, mark;
    double* weights() { return &mark + 1; }
    const double* weights() const { return &mark + 1; }
    bool varies(double total) const { return squares > 0 || n < total; }
};

// Remark 1: sigma_j |beta_j|, squared, times the same number for all. Compared to 25 bits: what ties but for
// rounding, as features seen once in the same row do, ties.
template <class Q>
inline double rank(const double* v, Q q, double scatter) {
    double square = 0;
    for (Index o = 0; o < q; ++o) square += v[o] * v[o];
    return rounded<24>(square * scatter);
}

// Who of a row has a slot, s > 0: these less one and the values; how many. Alone, and without branches: every
// entry passes here, be its feature gone or not.
template <bool wide, class T, class I>
inline Index compact(Index length, Index ahead, const I* __restrict j, const T* __restrict from,
                     const std::int32_t* __restrict slots, std::int32_t* __restrict at,
                     double* __restrict x) {
    Index n = 0;
    for (Index e = 0; e < length; ++e) {
        if (wide && e + 24 < ahead) prefetch(slots + j[e + 24]);
        if (e % 8 == 0) {  // the rows are first read here
            prefetch_read(from + e + 256);
            prefetch_read(j + e + 256);
        }
        const std::int32_t s = slots[j[e]];
        const double value = double(from[e]);
        at[n] = s - 1;
        x[n] = value;
        n += Index(s > 0) & Index((std::bit_cast<std::uint64_t>(value) << 1) != 0);  // neither 0 nor -0
    }
    return n;
}

struct AnnealedState {
    AnnealedClock& clock;
    std::span<std::int32_t> slot;  // by feature: 1 + slot, 0 unseen, -1 gone
    std::int32_t* seen;            // how many of a page of features are seen or gone
    std::int64_t* id;              // by slot
    double* slots;                 // a Slot each
    Table<double> moments;         // first and second moments of the gradient
    std::int32_t* touched;         // the slots that are marked
    double* bias;                  // (4, q): intercepts, and their gradient sums and moments
};

template <class Q>
class AnnealedSlots {
  public:
    static constexpr Index page = 4096;

    AnnealedSlots(const AnnealedState& state, bool deviations, Q q)
        : state_(state),
          slot_of_(state.slot.data()),
          p_(Index(state.slot.size())),
          extra_(state.moments.cols),
          deviations_(deviations),
          q_(q),
          c(state.clock) {}

    Slot& operator[](Index s) const { return *reinterpret_cast<Slot*>(state_.slots + s * width()); }
    Index features() const { return p_; }
    double* moments(Index s) const { return state_.moments.data + s * extra_; }
    double score(Index s) const {
        return rank((*this)[s].weights(), q_, deviations_ ? (*this)[s].scatter(c.weight) : 1);
    }

    // The alive non-zeros of a row: their slots and values; how many.
    template <class T, class I>
    Index gather(const CsrRow<T, I>& row, std::int32_t* at, double* x) {
        if (c.unseen > 0) {
            const Index limit = Index(c.limit);
            for (Index e = 0; e < row.length; ++e) {
                prefetch(slot_of_ + row.index(e + row.ahead(e)));
                const Index j = Index(row.j[e]);
                const std::int32_t s = slot_of_[j];
                if (s > 0)
                    prefetch(&(*this)[s - 1]);
                else if (s == 0 && j < limit && row.x[e] != 0)
                    add(j);
            }
        }
        // beyond the caches: ask beforehand
        const Index n = c.unseen == 0 && p_ > 1 << 16
                            ? compact<true>(row.length, row.rest, row.j, row.x, slot_of_, at, x)
                            : compact<false>(row.length, row.rest, row.j, row.x, slot_of_, at, x);
        if (c.unseen == 0 && c.size > 1 << 14)
            for (Index e = 0; e < n; ++e) prefetch(&(*this)[at[e]]);
        return n;
    }
    template <class DenseRow>
    Index gather(const DenseRow& row, std::int32_t* at, double* x) {
        if (c.unseen > 0)
            for (Index j = 0; j < Index(c.limit); ++j)
                if (slot_of_[j] == 0 && row.value(j) != 0) add(j);
        Index n = 0;
        const Index size = Index(c.size);
        for (Index s = 0; s < size; ++s) {
            const double value = row.value(state_.id[s]);
            at[n] = std::int32_t(s);
            x[n] = value;
            n += value != 0;
        }
        return n;
    }

    // Keeps the `budget` largest: of those that score the same the lower index, and none that was never seen.
    // Unless `exact`, not before a quarter of the slots is due. `often`: as after every batch.
    void truncate(double budget, bool often, bool exact) {
        double surplus = c.size + c.unseen - budget;
        if (surplus > 0 && c.unseen > 0) surplus -= forget(surplus);
        if (surplus <= 0 || !(often || exact || 4 * surplus >= c.size)) return;
        const Lowest gone = lowest(Index(surplus));
        // in order, so that dense rows are read in order; or by filling gaps, which moves less
        Index to = 0, end = Index(c.size);
        for (Index s = 0; s < end; ++s) {
            if (!gone.has(scores_[std::size_t(s)], state_.id[s])) {
                relocate(s, to++);
                continue;
            }
            slot_of_[state_.id[s]] = -1;
            if (often) continue;
            while (--end > s && gone.has(scores_[std::size_t(end)], state_.id[end]))
                slot_of_[state_.id[end]] = -1;
            if (end > s) relocate(end, to++);
        }
        c.size = double(to);
    }

  private:
    std::int32_t add(Index j) {
        const Index s = Index(c.size);
        c.size += 1;
        c.unseen -= 1;
        state_.seen[j / page] += 1;
        state_.id[s] = j;
        std::fill_n(state_.slots + s * width(), width(), 0.0);
        if (extra_) std::fill_n(moments(s), extra_, 0.0);
        return slot_of_[j] = std::int32_t(s + 1);
    }

    // Drops up to `count` features never seen, from the highest index down, page by page; how many.
    double forget(double count) {
        Index at = Index(c.limit);
        double done = 0;
        while (done < count && at > 0) {
            const Index start = (at - 1) / page * page;
            const double there = double(page - state_.seen[start / page]);
            if (at == start + page && done + there <= count) {
                done += there;
                at = start;
            } else {
                done += slot_of_[--at] == 0;
            }
        }
        c.limit = double(at);
        c.unseen -= done;
        return done;
    }

    // The lowest of all, up to this one.
    struct Lowest {
        double score;
        std::int64_t feature;
        bool has(double other, std::int64_t j) const { return !ranks_before(other, j, score, feature); }
    };
    // A count of the leading bits of the scores finds where the last of `count` must be: then few are left.
    Lowest lowest(Index count) {
        const std::size_t size = std::size_t(c.size);
        constexpr int shift = 64 - 17;  // sign, exponent, five bits of the mantissa
        scores_.resize(size);
        counts_.assign(std::size_t(1) << 17, 0);
        for (std::size_t s = 0; s < size; ++s) {
            scores_[s] = score(Index(s));
            ++counts_[std::bit_cast<std::uint64_t>(scores_[s]) >> shift];
        }
        c.work += c.size;
        std::uint64_t bin = 0;
        for (; count > counts_[bin]; ++bin) count -= counts_[bin];
        near_.clear();
        for (std::size_t s = 0; s < size; ++s)
            if (std::bit_cast<std::uint64_t>(scores_[s]) >> shift == bin)
                near_.push_back({scores_[s], state_.id[s]});
        const auto last = near_.begin() + (count - 1);
        std::nth_element(near_.begin(), last, near_.end(), [](const Lowest& a, const Lowest& b) {
            return ranks_before(b.score, b.feature, a.score, a.feature);
        });
        return *last;
    }

    void relocate(Index from, Index to) {
        if (from == to) return;
        state_.id[to] = state_.id[from];
        slot_of_[state_.id[to]] = std::int32_t(to + 1);
        std::copy_n(state_.slots + from * width(), width(), state_.slots + to * width());
        if (extra_) std::copy_n(moments(from), extra_, moments(to));
    }

    Index width() const { return Index(sizeof(Slot) / sizeof(double)) + 2 * q_; }

    const AnnealedState state_;
    std::int32_t* slot_of_;
    Index p_, extra_;  // features; numbers of a slot's moments
    bool deviations_;  // ranks by sigma_j |beta_j|, or by |beta_j|
    Q q_;
    AnnealedClock& c;
    std::vector<double> scores_;
    std::vector<Index> counts_;
    std::vector<Lowest> near_;
};

}  // namespace streamsieve
