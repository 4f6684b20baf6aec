// B-ARDA, [Zhai] Algorithm 1: z = -eta G / (alpha eta t + H), H = delta + s, and the B largest H |z|^2 are
// kept. alpha is the paper's lambda.
//
// Every score falls with t, each at its own pace, and all p compete. Still a row costs O(nnz q + touched
// log B), amortised, and the selection is that of sorting all p scores after every row, to the last bit:
//
// - The computed score is made of sums, quotients and products that are rounded to nearest, so it falls with
//   c = alpha eta t in floating point too. A score as of earlier is an upper bound, one as of later a lower.
// - `kept`: the B best, worst first, by their scores as of a row to come (`horizon`), lower bounds until
//   then. The worst as of now is found among those whose bound is below the least score found.
// - `pool`: outsiders, best first, by their scores when they were last looked at, upper bounds. One is
//   brought up to date only when its bound would beat the worst that is kept.
// - `floor`: whoever is in neither scored at most that when last touched. Should the worst kept fall below
//   the floor, all p are looked at; a pool that was too small for the rows since then is made eight times
//   larger, so that this costs no more than reading those rows did.
//
// Groups compete by the mean of their features' scores, which falls as these do.
// The outputs of a feature share H: s_j is the norm of its gradients over rows and outputs.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/heap.hpp"
#include "learners/adaptive.hpp"
#include "learners/groups.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

// One more gradient d x: its square to the sum of squares, itself to the sums.
template <class Q>
inline void add(const double* d, double x, Q q, double* at) {
    double square = 0;
    for (Index o = 0; o < q; ++o) {
        const double g = d[o] * x;
        at[1 + o] += g;
        square += g * g;
    }
    at[0] += square;
}

// What the bounds in the heaps are as of.
struct BardaBounds {
    double horizon;      // the row that those of `kept` are as of
    double pool_target;  // how many the pool is to hold
    double work;         // values read since all features were last looked at
    Ranked floor;        // the best that is in neither heap, when it was last touched
    AdaptiveRule rule;   // what they were computed with: other parameters make them void
};

struct BardaState {
    RowCount& clock;
    BardaBounds& bounds;
    KeptHeap kept;
    Outsiders pool;
    std::int32_t* place;
    Table<double> gradient;  // (p, 1 + q): the sum of squared gradients, and the sums of gradients
    AdaptiveBias bias;
};

// H |z|^2 as of c, of a sum of squared gradients and the norm of the sums of gradients; |z|^2 if naive.
inline double dual_score(const AdaptiveRule& rule, bool naive, double squares, double size, double c) {
    const double h = rule.delta + std::sqrt(squares), z = rule.eta * size / (c + h);
    return (naive ? 1 : h) * (z * z);
}

// The same for the features of a row, many at a time; the scores replace the sizes.
STREAMSIEVE_CLONES inline void dual_scores(const AdaptiveRule& rule, bool naive, const double* squares,
                                           double* size, Index n, double c) {
    const AdaptiveRule one = rule;
#pragma omp simd
    for (Index e = 0; e < n; ++e) size[e] = dual_score(one, naive, squares[e], size[e], c);
}

// The best of all features, or groups of them, as of row t.
template <class Q, class G>
class DualBest {
  public:
    DualBest(const AdaptiveRule& rule, bool naive, const G& groups, Q q, const BardaState& state)
        : rule_(rule),
          naive_(naive),
          groups_(groups),
          q_(q),
          at_(state.gradient.data),
          bounds_(state.bounds),
          budget_(state.kept.room()),
          kept_(state.kept),
          pool_(state.pool),
          place_(state.place),
          later_(penalty(state.bounds.horizon)) {}

    double strength(Index j) const { return rule_.delta + std::sqrt(at_[j * (q_ + 1)]); }  // H
    double penalty(double t) const { return rule_.alpha * rule_.eta * t; }
    void expect(Index j) const {
        prefetch(place_ + groups_.of(j));
        prefetch(at_ + j * (q_ + 1));
    }
    bool has(Index j) const { return place_[groups_.of(j)] > 0; }

    // The clock moves on to row t.
    void tick(double t) {
        t_ = t;
        c_ = penalty(t);
        if (!(bounds_.rule == rule_)) return look_at_all();
        if (t > bounds_.horizon) rescore_kept();
    }
    // The gradients of j, a feature or of a group, have changed; `score_now` is its score as of now.
    void touched(Index j, double score_now) {
        const std::int32_t place = place_[j];
        if (place > 0) return kept_.rescore(place - 1, score(j, later_));
        if (score_now < bounds_.floor.score) return;  // it cannot join the pool, whose scores are above it
        const Ranked now{score_now, double(j)};
        if (place < 0) {
            if (now.score > pool_[-place - 1].score) pool_.rescore(-place - 1, now.score);
        } else if (better(now, bounds_.floor)) {
            pool_.push(now);
        }
    }
    // The norm of the summed gradients of feature j.
    double size(Index j) const {
        const double* s = at_ + j * (q_ + 1);
        if (q_ == 1) return std::abs(s[1]);
        double square = 0;
        for (Index o = 1; o <= q_; ++o) square += s[o] * s[o];
        return std::sqrt(square);
    }
    double now() const { return c_; }
    // All that a row changes has changed: let the best be kept.
    void settle(double entries) {
        bounds_.work += entries + 1;
        if (pool_.size() > 4 * Index(bounds_.pool_target)) drop_the_poor();
        for (;;) {
            if (kept_.size() < budget_) {
                if (!refresh_first()) {
                    if (bounds_.floor.score > 0) look_at_all();
                    return;
                }
                const Index j = pool_.top().j();
                pool_.pop();
                kept_.push({score(j, later_), double(j)});
                continue;
            }
            if (!threatened(kept_.top())) return;
            Ranked worst{std::numeric_limits<double>::infinity(), -1};
            Index where = 0;
            find_worst(0, worst, where);
            if (pool_.size() > 0 && better(pool_.top(), worst)) {
                if (!refresh_first() || !better(pool_.top(), worst)) continue;
                const Index j = pool_.top().j();
                pool_.pop();
                kept_.replace(where, {score(j, later_), double(j)});
                if (better(worst, bounds_.floor)) pool_.push(worst);
                continue;
            }
            if (bounds_.floor.score > 0 && better(bounds_.floor, worst)) look_at_all();
            return;
        }
    }

    // The score of a feature or a group as of c.
    double score(Index g, double c) const {
        return groups_.mean(
            g, [&](Index j) { return dual_score(rule_, naive_, at_[j * (q_ + 1)], size(j), c); });
    }

  private:
    bool threatened(const Ranked& worst) const {
        return (pool_.size() > 0 && better(pool_.top(), worst)) ||
               (bounds_.floor.score > 0 && better(bounds_.floor, worst));
    }
    void find_worst(Index at, Ranked& worst, Index& where) const {
        if (at >= kept_.size() || better(kept_[at], worst)) return;
        const Ranked now{score(kept_[at].j(), c_), kept_[at].feature};
        if (better(worst, now)) worst = now, where = at;
        find_worst(2 * at + 1, worst, where);
        find_worst(2 * at + 2, worst, where);
    }
    // Bring the first of the pool up to date until it is the first indeed; those that fall below the floor
    // leave. False if nobody is left.
    bool refresh_first() {
        while (pool_.size() > 0) {
            const Ranked first = pool_.top(), now{score(first.j(), c_), first.feature};
            if (!better(now, bounds_.floor))
                pool_.pop();
            else if (now.score < first.score)
                pool_.rescore(0, now.score);
            else
                return true;
        }
        return false;
    }
    void rescore_kept() {
        bounds_.horizon = t_ + std::max(64.0, double(budget_));
        later_ = penalty(bounds_.horizon);
        for (Index at = 0; at < kept_.size(); ++at) kept_.set(at, score(kept_[at].j(), later_));
        kept_.order();
    }
    void drop_the_poor() {
        found_.clear();
        for (Index at = 0; at < pool_.size(); ++at) {
            const Index j = pool_[at].j();
            found_.push_back({score(j, c_), double(j)});
            place_[j] = 0;
        }
        fill_pool(0, Index(bounds_.pool_target));
    }
    void look_at_all() {
        const double least = 2 * double(budget_) + 256, most = std::max(least, double(groups_.count));
        double& target = bounds_.pool_target;
        const bool changed = !(bounds_.rule == rule_);
        target = changed ? least : bounds_.work < double(groups_.count) ? 8 * target : target / 2;
        target = std::clamp(target, least, most);
        bounds_.work = 0;
        bounds_.rule = rule_;
        found_.clear();
        for (Index j = 0; j < groups_.count; ++j) {
            place_[j] = 0;
            if (!G::grouped && at_[j * (q_ + 1)] == 0) continue;
            const Ranked now{score(j, c_), double(j)};
            if (now.score > 0) found_.push_back(now);
        }
        bounds_.floor = {0, -1};
        const Index n = std::min(budget_, Index(found_.size()));
        std::nth_element(found_.begin(), found_.begin() + n, found_.end(), better);
        kept_.resize(n);
        for (Index at = 0; at < n; ++at) kept_.set(at, found_[std::size_t(at)]);
        rescore_kept();
        fill_pool(n, Index(target));
    }
    // The `room` best of those found from `from` on are the pool, and none of the others is above the floor.
    void fill_pool(Index from, Index room) {
        const auto first = found_.begin() + from;
        if (found_.end() - first > room) {
            std::nth_element(first, first + room, found_.end(), better);
            if (better(first[room], bounds_.floor)) bounds_.floor = first[room];
            found_.resize(std::size_t(from + room));
        }
        Index n = 0;
        for (auto r = first; r != found_.end(); ++r)
            if (better(*r, bounds_.floor)) pool_.set(n++, *r);
        pool_.resize(n);
        pool_.order();
    }

    AdaptiveRule rule_;
    bool naive_;
    const G& groups_;
    Q q_;
    const double* at_;
    BardaBounds& bounds_;
    Index budget_;
    KeptHeap kept_;
    Outsiders pool_;
    std::int32_t* place_;
    double t_ = 0, c_ = 0;
    double later_;  // the penalty at the horizon
    std::vector<Ranked> found_;
};

// Values are bounded by Python such that nothing overflows: |z| <= eta sqrt(t).
template <class Rows, class Q, class G>
Index barda(const Rows& X, const Loss& loss, Q q, const double* y, const double* weight,
            const AdaptiveRule& rule, bool naive, const G& groups, const BardaState& state) {
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    double *m = scratch.data(), *d = m + q;
    DualBest<Q, G> best(rule, naive, groups, q, state);
    const auto longest = std::size_t(X.longest());
    std::vector<std::int32_t> changed(longest);  // features of a row, or their groups
    std::vector<double> squares(longest), scores(longest);
    RowCount& clock = state.clock;
    const AdaptiveBias bias = state.bias;
    double* at = state.gradient.data;
    const Index width = q + 1;
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = X[i];
        const double r = weight ? weight[i] : 1, c = best.penalty(clock.rows);
        for (Index o = 0; o < q; ++o) m[o] = 0;
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            if (e + 24 < row.length) best.expect(row.index(e + 24));
            if (!best.has(j)) continue;
            const double x = row.value(e), below = c + best.strength(j);
            for (Index o = 0; o < q; ++o) m[o] += x * (-rule.eta * at[j * width + 1 + o] / below);
        }
        const double slope = slopes(loss, q, m, 1, bias.value, y + i * q, r, d);
        clock.add(r);
        best.tick(clock.rows);
        if (slope != 0) {
            Index n = 0;
            for (Index e = 0; e < row.length; ++e) {
                const double x = row.value(e);
                if (x == 0) continue;
                const Index j = row.index(e);
                add(d, x, q, at + j * width);
                changed[std::size_t(n)] = std::int32_t(groups.of(j));
                if constexpr (G::grouped) {
                    ++n;
                    continue;
                }
                squares[std::size_t(n)] = at[j * width];
                scores[std::size_t(n++)] = best.size(j);
            }
            if constexpr (G::grouped) {
                std::sort(changed.begin(), changed.begin() + n);
                const auto end = std::unique(changed.begin(), changed.begin() + n);
                for (auto g = changed.begin(); g != end; ++g) best.touched(*g, best.score(*g, best.now()));
            } else {
                dual_scores(rule, naive, squares.data(), scores.data(), n, best.now());
                for (std::size_t e = 0; e < std::size_t(n); ++e) best.touched(changed[e], scores[e]);
            }
            if (bias.fit) {
                add(d, 1, q, bias.gradient);
                const double h = rule.delta + std::sqrt(bias.gradient[0]);
                for (Index o = 0; o < q; ++o) bias.value[o] = -rule.eta * bias.gradient[1 + o] / h;
            }
        }
        best.settle(slope != 0 ? double(row.length) : 0);
    }
    return X.rows;
}

}  // namespace streamsieve
