// Exact selection of the k best by score, ties to the lower index.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/simd.hpp"
#include "core/ties.hpp"

namespace streamsieve {

// A score as it is compared.
inline double ranked(double score) {
    return rounded<32>(score);
}

// Indices of the k largest scores above 0, ascending, written to `out`; returns how many. O(p).
inline Index top_k(const double* score, Index p, Index k, std::int64_t* out) {
    std::vector<double> positive;
    positive.reserve(std::size_t(p));
    for (Index j = 0; j < p; ++j)
        if (score[j] > 0) positive.push_back(ranked(score[j]));
    double least = 0;
    Index ties = p;  // how many of those that score `least` belong
    if (Index(positive.size()) > k) {
        if (k == 0) return 0;
        std::nth_element(positive.begin(), positive.begin() + (k - 1), positive.end(), std::greater<>());
        least = positive[std::size_t(k - 1)];
        ties = k - std::count_if(positive.begin(), positive.begin() + k, [&](double s) { return s > least; });
    }
    Index n = 0;
    for (Index j = 0; j < p; ++j) {
        const double s = ranked(score[j]);
        if (s > least || (s == least && least > 0 && ties-- > 0)) out[n++] = j;
    }
    return n;
}

// The at most k features that a learner keeps, worst first: a heap, and a hash table that knows where each
// feature sits, so that a row costs O(log k) for each kept feature it touches, and for every other one a
// look-up in a table that stays in the cache however many features there are.
//
// State, all owned by Python: per slot its feature, its place in the heap and its score; `heap` (k), slots by
// place; `table` (a power of two of at least 8 k), 1 + a slot, 0 where it is empty, linear probing; the
// number kept.
class Kept {
  public:
    struct Entry {
        std::int64_t feature, place, heap;
    };

    Kept(std::int32_t* table, Index length, Entry* entry, double* score, std::int64_t* size, Index k)
        : table_(table),
          mask_(std::uint64_t(length) - 1),
          shift_(64 - std::countr_zero(std::uint64_t(length))),
          entry_(entry),
          score_(score),
          size_(size),
          k_(k) {}

    Index size() const { return *size_; }
    Index room() const { return k_; }
    bool full() const { return *size_ >= k_; }
    void index(Index kept) {
        for (Index s = 0; s < kept; ++s) insert(entry_[s].feature, s);
    }
    // The slot of feature j, or -1.
    Index find(Index j) const {
        for (std::uint64_t at = home(j);; at = (at + 1) & mask_) {
            const Index s = Index(table_[at]) - 1;
            if (s < 0 || entry_[s].feature == j) return s;
        }
    }
    Index feature(Index s) const { return entry_[s].feature; }
    double score(Index s) const { return score_[s]; }
    Index worst() const { return entry_[0].heap; }

    Index push(Index j, double score) {
        const Index s = (*size_)++;
        insert(j, s);
        score_[s] = score;
        put(s, s);
        rise(s);
        return s;
    }
    // The worst makes room for feature j, which takes over its slot.
    Index replace_worst(Index j, double score) {
        const Index s = worst();
        erase(entry_[s].feature);
        insert(j, s);
        score_[s] = score;
        sink(0);
        return s;
    }
    void rescore(Index s, double score) {
        score_[s] = score;
        rise(entry_[s].place);
        sink(entry_[s].place);
    }
    // Whether feature j with this score is to be kept rather than the one in slot s.
    bool beats(Index j, double score, Index s) const {
        return ranks_before(score, j, score_[s], Index(entry_[s].feature));
    }

  private:
    std::uint64_t home(Index j) const { return (std::uint64_t(j) * 0x9E3779B97F4A7C15u) >> shift_; }
    void insert(Index j, Index s) {
        std::uint64_t at = home(j);
        while (table_[at] != 0) at = (at + 1) & mask_;
        table_[at] = std::int32_t(s + 1);
        entry_[s].feature = j;
    }
    // Those behind move up, as if the feature had never been there: no tombstones, and the table does not
    // age.
    void erase(Index j) {
        std::uint64_t gap = home(j);
        while (entry_[table_[gap] - 1].feature != j) gap = (gap + 1) & mask_;
        for (std::uint64_t at = (gap + 1) & mask_; table_[at] != 0; at = (at + 1) & mask_) {
            const std::uint64_t from = home(entry_[table_[at] - 1].feature);
            if (((at - from) & mask_) >= ((at - gap) & mask_)) {
                table_[gap] = table_[at];
                gap = at;
            }
        }
        table_[gap] = 0;
    }
    void put(Index place, Index s) {
        entry_[place].heap = s;
        entry_[s].place = place;
    }
    void rise(Index place) {
        const Index s = entry_[place].heap;
        while (place > 0) {
            const Index above = (place - 1) / 2, other = entry_[above].heap;
            if (!beats(feature(other), score_[other], s)) break;
            put(place, other);
            place = above;
        }
        put(place, s);
    }
    void sink(Index place) {
        const Index s = entry_[place].heap;
        for (;;) {
            Index below = 2 * place + 1;
            if (below >= *size_) break;
            Index worse = entry_[below].heap;
            if (below + 1 < *size_) {
                const Index right = entry_[below + 1].heap;
                if (beats(feature(worse), score_[worse], right)) ++below, worse = right;
            }
            if (!beats(feature(s), score_[s], worse)) break;
            put(place, worse);
            place = below;
        }
        put(place, s);
    }

    std::int32_t* table_;
    std::uint64_t mask_;
    int shift_;
    Entry* entry_;
    double* score_;
    std::int64_t* size_;
    Index k_;
};

}  // namespace streamsieve
