// A heap of features by score, ties to the lower index, that knows where each feature sits.
//
// State, all owned by Python (learners/heap.py): the entries, how many there are, and `place` (p), shared by
// the heaps of one learner: Sign * (1 + place in the heap) of a feature that is in one, 0 for all others.
// O(log n) a change.
#pragma once
#include <cstdint>

#include "core/simd.hpp"
#include "core/ties.hpp"

namespace streamsieve {

// A feature's number as double: exact far beyond any p, and one array holds both.
struct Ranked {
    double score, feature;
    Index j() const { return Index(feature); }
};

inline bool better(const Ranked& a, const Ranked& b) {
    return ranks_before(a.score, a.feature, b.score, b.feature);
}

struct WorstFirst {
    static bool above(const Ranked& a, const Ranked& b) { return better(b, a); }
};
struct BestFirst {
    static bool above(const Ranked& a, const Ranked& b) { return better(a, b); }
};

template <class Order, std::int32_t Sign>
class Heap {
  public:
    Heap(Ranked* entry, std::int64_t* size, Index room, std::int32_t* place)
        : entry_(entry), size_(size), room_(room), place_(place) {}

    Index size() const { return *size_; }
    Index room() const { return room_; }
    const Ranked& top() const { return entry_[0]; }
    const Ranked& operator[](Index at) const { return entry_[at]; }
    // Where feature j is, or a negative number.
    Index find(Index j) const { return Index(place_[j]) * Sign - 1; }
    // The entries of a row whose feature is in the heap, in `to`, which has room for all; how many. There is
    // no branch: which are in it cannot be guessed.
    template <class Row>
    Index entries(const Row& row, std::int32_t* to) const {
        Index n = 0;
        for (Index e = 0; e < row.length; ++e) {
            to[n] = std::int32_t(e);
            n += place_[row.index(e)] * Sign > 0;
        }
        return n;
    }

    void push(Ranked r) {
        const Index at = (*size_)++;
        rise(at, r);
    }
    // Another entry in the place of this one, whose feature is forgotten.
    void replace(Index at, Ranked r) {
        place_[entry_[at].j()] = 0;
        settle(at, r);
    }
    void rescore(Index at, double score) { settle(at, {score, entry_[at].feature}); }
    void pop() {
        place_[entry_[0].j()] = 0;
        const Index last = --*size_;
        if (last > 0) sink(0, entry_[last]);
    }
    // Write scores in any order, then put all in order: O(n).
    void set(Index at, double score) { entry_[at].score = score; }
    void set(Index at, Ranked r) { entry_[at] = r; }
    void resize(Index n) { *size_ = n; }
    void order() {
        const Index n = size();
        for (Index at = n / 2; at < n; ++at) put(at, entry_[at]);
        for (Index at = n / 2 - 1; at >= 0; --at) sink(at, entry_[at]);
    }

  private:
    void put(Index at, const Ranked& r) {
        entry_[at] = r;
        place_[r.j()] = Sign * std::int32_t(at + 1);
    }
    void settle(Index at, Ranked r) {
        if (at > 0 && Order::above(r, entry_[(at - 1) / 2]))
            rise(at, r);
        else
            sink(at, r);
    }
    void rise(Index at, Ranked r) {
        for (; at > 0 && Order::above(r, entry_[(at - 1) / 2]); at = (at - 1) / 2)
            put(at, entry_[(at - 1) / 2]);
        put(at, r);
    }
    void sink(Index at, Ranked r) {
        const Index n = size();
        for (;;) {
            Index below = 2 * at + 1;
            if (below >= n) break;
            if (below + 1 < n && Order::above(entry_[below + 1], entry_[below])) ++below;
            if (!Order::above(entry_[below], r)) break;
            put(at, entry_[below]);
            at = below;
        }
        put(at, r);
    }

    Ranked* entry_;
    std::int64_t* size_;
    Index room_;
    std::int32_t* place_;
};

using KeptHeap = Heap<WorstFirst, 1>;   // the features with a weight
using Outsiders = Heap<BestFirst, -1>;  // those that may be next

}  // namespace streamsieve
