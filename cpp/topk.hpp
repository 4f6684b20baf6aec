// Exact selection of the k best by score, ties to the lower index.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "simd.hpp"

namespace streamsieve {

// Indices of the k largest scores above 0, ascending, written to `out`; returns how many. O(p).
inline Index top_k(const double* score, Index p, Index k, std::int64_t* out) {
    std::vector<double> positive;
    positive.reserve(std::size_t(p));
    for (Index j = 0; j < p; ++j)
        if (score[j] > 0) positive.push_back(score[j]);
    double least = 0;
    Index ties = p;  // how many of those that score `least` belong
    if (Index(positive.size()) > k) {
        if (k == 0) return 0;
        std::nth_element(positive.begin(), positive.begin() + (k - 1), positive.end(), std::greater<>());
        least = positive[std::size_t(k - 1)];
        ties = k - std::count_if(positive.begin(), positive.begin() + k, [&](double s) { return s > least; });
    }
    Index n = 0;
    for (Index j = 0; j < p; ++j)
        if (score[j] > least || (score[j] == least && least > 0 && ties-- > 0)) out[n++] = j;
    return n;
}

// The at most k features that a learner keeps, worst first: a heap that knows where each feature sits, so
// that a row costs O(log k) for each kept feature it touches, and a look-up for every other one.
//
// State, all owned by Python: `slot` (p), 1 + the slot of a feature, 0 if it is not kept; per slot its
// feature, its place in the heap and its score; `heap` (k), slots by place; the number kept.
class Kept {
  public:
    struct Entry {
        std::int64_t feature, place, heap;
    };

    Kept(std::int32_t* slot, Entry* entry, double* score, std::int64_t* size, Index k)
        : slot_(slot), entry_(entry), score_(score), size_(size), k_(k) {}

    Index size() const { return *size_; }
    Index room() const { return k_; }
    bool full() const { return *size_ >= k_; }
    void expect(Index j) const { prefetch(slot_ + j); }
    Index find(Index j) const { return Index(slot_[j]) - 1; }
    Index feature(Index s) const { return entry_[s].feature; }
    double score(Index s) const { return score_[s]; }
    Index worst() const { return entry_[0].heap; }

    Index push(Index j, double score) {
        const Index s = (*size_)++;
        entry_[s].feature = j;
        slot_[j] = std::int32_t(s + 1);
        score_[s] = score;
        put(s, s);
        rise(s);
        return s;
    }
    // The worst makes room for feature j, which takes over its slot.
    Index replace_worst(Index j, double score) {
        const Index s = worst();
        slot_[entry_[s].feature] = 0;
        entry_[s].feature = j;
        slot_[j] = std::int32_t(s + 1);
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
        return score > score_[s] || (score == score_[s] && j < entry_[s].feature);
    }

  private:
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

    std::int32_t* slot_;
    Entry* entry_;
    double* score_;
    std::int64_t* size_;
    Index k_;
};

}  // namespace streamsieve
