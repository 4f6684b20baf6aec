// Stochastic feature selection with annealing ([Sun] Algorithm 1), one rung of a ladder of maturity times.
//
// Only features that have been seen, and are alive, have a slot, where their weights, gradient sums and
// moments are; all others are one number each, `slot`. A row costs O(nnz) look-ups and O(alive nnz q) work. A
// batch that ends costs the slots it touched; with momentum, Nesterov and Adam, which move every weight, all
// slots. Keeping the M_t largest costs O(slots) where the batch itself had a quarter as many entries. Where
// slots are many more (wide sparse data), the lowest quarter is sorted into a pool that serves many batches:
// a weight that no row touches keeps its score, or, as its zeros count, gains. So a removal costs O(log p)
// amortised, and nothing is O(p) but the first layout: features never seen are dropped by counting.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "sgd.hpp"

namespace streamsieve {

// The second derivative of a loss where its slope is d: a row that is classified well enough has none.
inline double bend(Squared, double) {
    return 1;
}
inline double bend(Logistic, double d) {
    return std::abs(d) * (1 - std::abs(d));
}
inline double bend(Hinge, double d) {
    return d != 0;
}
inline double bend(SquaredHinge, double d) {
    return d != 0 ? 2 : 0;
}

enum class Variant { plain, momentum, nesterov, adam };

// What stays the same for all rows.
struct Annealing {
    double k, mu, delay, maturity, batch;
    Variant variant;
    double eta;  // the user's, or 0: derived
    Schedule schedule;
    double lam;
    bool intercept;
};

// The numbers of a rung's state; learners/sfsa.py lists the same names in the same order.
struct RungClock {
    double filled, batches, weight;  // rows in the unfinished batch, batches, total weight
    double scale, horizon;           // of the weights; of the doubling trick
    double norm, cross, pairs;       // running mean of |x|^2, of (x'x')^2 over pairs, how many
    double norms, entries, slope;    // sums of squares and counts for the intercept; rms of slopes
    double curve;                    // running mean of the losses' second derivatives
    double trace, mass, count, reach, slopes, bends;  // sums over the unfinished batch
    double first, output, pair, loss;     // slope of its first row; x'x' of its first two; its loss
    double size, limit, unseen, touched;  // slots; unseen features are alive below limit; how many
    double theta, last;                   // the pool holds all up to score theta, feature last, or -1
    double pool, pool_end, loose;         // in pool[pool:pool_end], sorted, and a heap
    double work;                          // entries and slots visited, for those who count
};

// Of the non-zero values of a feature: weight, the first, sum and sum of squares of the differences from it
// (as in units.hpp), and 1 / mean square as of the last batch.
struct Moment {
    double n, first, sum, squares, inverse;
    double square() const { return squares + first * (2 * sum + n * first); }
    // n times the variance, zeros counted; it never falls
    double spread(double total) const {
        const double off = sum / n, mean = first + off;
        return std::max(0.0, squares - off * sum) + mean * (n * mean) * std::max(0.0, 1 - n / total);
    }
};

// Remark 1: sigma_j |beta_j|, squared, times the same number for all. Compared to 25 bits: what ties but for
// rounding, as features seen once in the same row do, ties.
template <class Q>
inline double rank(const double* v, Q q, double spread) {
    double square = 0;
    for (Index o = 0; o < q; ++o) square += v[o] * v[o];
    constexpr std::uint64_t half = 1ull << 27;
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(square * spread) + half) & ~(2 * half - 1));
}

template <class Q>
class Rung {
  public:
    struct Entry {
        double score, feature;
        // the next to go first: lowest score, then highest index
        bool operator<(const Entry& o) const {
            return score < o.score || (score == o.score && feature > o.feature);
        }
    };
    struct State {
        RungClock* clock;
        std::int32_t *slot, *seen;  // by feature: 1 + slot, 0 unseen, -1 gone; seen or gone per `page`
        std::int64_t* id;           // by slot, as all that follow
        double *v, *g, *m, *s;      // weights / scale, gradient sums, first and second moments (or null)
        Moment* moment;             // or null: the units of the data
        std::uint8_t* mark;
        std::int32_t* touched;
        Entry *pool, *loose;
        double* bias;  // (4, q): intercepts, and their g, m, s
        Index p, capacity;
    };
    static constexpr Index page = 4096;

    Rung(const State& state, const Annealing& rule, Q q)
        : state_(state), rule_(rule), q_(q), c(*state.clock) {}

    // ------------------------------------------------------------ rows

    // The alive non-zeros of a row: their slots and values; how many.
    template <class T, class I>
    Index gather(const CsrRow<T, I>& row, std::int32_t* at, double* x) {
        const std::int32_t* slot = state_.slot;
        const Index limit = Index(c.limit);
        Index n = 0;
        for (Index e = 0; e < row.length; ++e) {
            if (e + 16 < row.length) prefetch(slot + row.j[e + 16]);
            const Index j = Index(row.j[e]);
            const double value = double(row.x[e]);
            std::int32_t s = slot[j];
            if (s == 0 && j < limit && value != 0) s = add(j);
            at[n] = s - 1;
            x[n] = value;
            n += (s > 0) & (value != 0);
        }
        return n;
    }
    template <class T>
    Index gather(const DenseRow<T>& row, std::int32_t* at, double* x) {
        if (c.unseen > 0)
            for (Index j = 0; j < Index(c.limit); ++j)
                if (state_.slot[j] == 0 && row.x[j] != 0) add(j);
        Index n = 0;
        const Index size = Index(c.size);
        for (Index s = 0; s < size; ++s) {
            const double value = double(row.x[state_.id[s]]);
            at[n] = std::int32_t(s);
            x[n] = value;
            n += value != 0;
        }
        return n;
    }

    // m = W'x / scale; takes the moments in; returns |x|^2 in units of the features.
    double margins(Index n, const std::int32_t* at, const double* x, double r, double* m) {
        for (Index o = 0; o < q_; ++o) m[o] = 0;
        if constexpr (std::is_same_v<Q, One>) {
            // four sums, or the latency of one addition after the other is the time of the loop
            double lane[4] = {0, 0, 0, 0};
            const double* w = state_.v;
            Index e = 0;
            for (; e + 4 <= n; e += 4)
                for (Index l = 0; l < 4; ++l) lane[l] += x[e + l] * w[at[e + l]];
            for (; e < n; ++e) lane[0] += x[e] * w[at[e]];
            *m = (lane[0] + lane[1]) + (lane[2] + lane[3]);
        } else {
            for (Index e = 0; e < n; ++e)
                for (Index o = 0; o < q_; ++o) m[o] += x[e] * state_.v[Index(at[e]) * q_ + o];
        }
        double norm = 0;
        if (!state_.moment) {
            for (Index e = 0; e < n; ++e) norm += x[e] * x[e];
            return norm;
        }
        const double most = 1 / r;
        for (Index e = 0; e < n; ++e) {
            if (e + 8 < n) prefetch(state_.g + Index(at[e + 8]) * q_);
            Moment& f = state_.moment[at[e]];
            if (f.n == 0) f.first = x[e];
            const double d = x[e] - f.first;
            f.n += r;
            f.sum += r * d;
            f.squares += r * d * d;
            // in units that count x itself its square is at most n / r
            norm += std::min(x[e] * x[e] * f.inverse, f.n * most);
        }
        return norm;
    }

    // Adds r loss' x to the gradient of the batch; false where its step would overflow.
    template <class Loss>
    bool learn(Loss loss, Index n, const std::int32_t* at, const double* x, double r, double norm,
               const double* d, double most) {
        if (c.filled == 0) {
            Index o = 0;
            for (Index other = 1; other < q_; ++other)
                if (std::abs(d[other]) > std::abs(d[o])) o = other;
            c.first = d[o];
            c.output = double(o);
            c.pair = -1;
        } else if (c.filled == 1 && c.first != 0) {
            c.pair = std::abs(crossed(n, at, x) / c.first);
        }
        Index touched = Index(c.touched);
        for (Index e = 0; e < n; ++e) {
            const Index s = at[e];
            for (Index o = 0; o < q_; ++o) state_.g[s * q_ + o] += x[e] * d[o];
            state_.touched[touched] = std::int32_t(s);
            touched += !state_.mark[s];
            state_.mark[s] = 1;
        }
        c.touched = double(touched);
        for (Index o = 0; o < q_; ++o) {
            state_.bias[q_ + o] += d[o];
            c.slopes += d[o] * d[o];
            c.bends += bend(loss, d[o] / r);
        }
        c.weight += r;
        c.mass += r;
        c.trace += r * norm;
        c.count += double(n);
        c.work += double(n);
        c.reach += most * std::max(1.0, std::sqrt(norm));
        c.filled += 1;
        return c.filled < rule_.batch;
    }

    // ------------------------------------------------------------ the end of a batch

    // One step, then the M_t largest; false where the step would overflow.
    bool finish(double curvature) {
        const double b = c.filled;
        c.batches += 1;
        const Step step = derive(curvature);
        if (!(step.weights * std::max(1.0, step.unit) * c.reach / b < 1e100)) return false;
        if (rule_.lam > 0) shrink(1 - step.weights * rule_.lam);
        const bool all = rule_.variant != Variant::plain;
        const Index size = Index(c.size), touched = Index(c.touched);
        // the batch was as much work as a look at every slot
        const bool sweep = all || size <= 4 * Index(c.count) + 64;
        for (Index e = 0; e < (all ? size : touched); ++e) move(all ? e : state_.touched[e], step, b);
        for (Index e = 0; e < touched; ++e) state_.mark[state_.touched[e]] = 0;
        for (Index o = 0; o < q_; ++o) {
            double* f = state_.bias + o;
            const double root = std::sqrt(step.unit);
            if (rule_.intercept) *f += change(f[q_] * root / b, f[2 * q_], f[3 * q_], step) * root;
            f[q_] = 0;
        }
        c.work += double(all ? size : touched);
        truncate(sweep, touched);
        c.filled = c.touched = c.trace = c.mass = c.count = c.reach = c.slopes = c.bends = c.loss = 0;
        return true;
    }

    double score(Index s) const {
        return rank(state_.v + s * q_, q_, state_.moment ? state_.moment[s].spread(c.weight) : 1);
    }
    const double* bias() const { return state_.bias; }
    double scale() const { return c.scale; }
    RungClock& clock() { return c; }

  private:
    struct Step {
        double weights, unit, length, first, second, least;  // the last four are Adam's
    };

    static constexpr double decay = 0.9, slow = 0.999;  // of momentum, and of Adam's second moments
    static constexpr double flattest = 64;              // L is at least its bound over this
    static constexpr double memory = 100;               // batches that the running means look back

    // The derived step is 1 / (L (Lambda + R^2 / b)): for b independent rows the mean square of the error
    // contracts at any step below twice that, Lambda the largest eigenvalue of their second moments, L the
    // second derivative of the loss. Lambda^2 is at most the mean of (x'x')^2 over pairs of rows, of which
    // the first two rows of a batch give one; at first, R^4. A batch whose own pair, norms or second
    // derivatives are larger than they have been gets a shorter step. And while features are chosen no step
    // forgets the batches before it faster than their number grows: weights then weigh all of them, and the
    // more features are gone, and the longer the steps that would be stable, the more this matters.
    Step derive(double curvature) {
        const double b = c.filled, mass = c.mass / b, outputs = double(Index(q_));
        c.norms += c.trace;
        c.entries += c.count;
        double unit = 0;
        if (rule_.intercept) unit = state_.moment || !(c.entries > 0) ? 1 : c.norms / c.entries;
        const double trace = c.trace / b + mass * unit, rate = std::max(1 / c.batches, 1 / memory);
        c.norm += (trace - c.norm) * rate;
        c.slope += (c.slopes / (b * outputs) - c.slope) * rate;
        const double bends = c.bends / (b * outputs);
        c.curve += (bends - c.curve) * rate;
        // Adam divides by the size of the gradients, which falls with the second derivatives
        if (rule_.variant != Variant::adam) curvature = std::max({c.curve, bends, curvature / flattest});
        double pair = 0;
        if (c.pairs == 0) c.cross = c.norm * c.norm;
        if (c.pair >= 0) {
            pair = mass * (c.pair + unit);
            c.pairs += 1;
            c.cross += (pair * pair - c.cross) * std::max(1 / (c.pairs + 1), 1 / memory);
        }
        double length = std::max(c.norm, trace);
        if (b > 1)
            length = std::max(std::sqrt(c.cross), pair) + c.norm / b + std::max(0.0, trace - 2 * c.norm);
        if (c.batches < rule_.maturity)
            length = std::max(length, 0.5 * c.batches * c.norm / (c.size + c.unseen));
        Step step{};
        step.weights = fade();
        if (rule_.eta > 0)
            step.weights *= rule_.eta;
        else
            step.weights = length > 0 ? step.weights / (curvature * length + rule_.lam) : 0;
        step.unit = rule_.eta > 0 ? 1 : unit;
        // Adam divides a gradient by its size; a derived step gives it back the size of the slopes
        step.length = rule_.eta > 0 ? 1 : std::sqrt(c.slope);
        step.first = 1 - std::pow(decay, c.batches);
        step.second = 1 - std::pow(slow, c.batches);
        step.least = 1e-8 * step.length;
        return step;
    }

    double fade() {
        if (rule_.schedule == Schedule::constant) return 1;
        if (rule_.schedule == Schedule::sqrt) return 1 / std::sqrt(c.batches);
        if (c.batches > c.horizon) c.horizon = 2 * c.batches;  // [Susan] section 4
        return std::log(c.horizon) / c.horizon;
    }

    void shrink(double by) {
        c.scale *= by;
        if (c.scale >= tiny_scale) return;
        for (Index e = 0; e < Index(c.size) * q_; ++e) state_.v[e] *= c.scale;
        c.scale = 1;
        c.theta = -1;
    }

    // x'x' of this row and the first one, which is all that the gradient sums hold, times the first's slope
    double crossed(Index n, const std::int32_t* at, const double* x) const {
        double sum = 0;
        for (Index e = 0; e < n; ++e) {
            const double g = state_.g[Index(at[e]) * q_ + Index(c.output)];
            if (g == 0) continue;
            const Moment* f = state_.moment ? state_.moment + at[e] : nullptr;
            const double square = f ? f->square() : 1;
            sum += f ? (square > 0 ? x[e] * g * (f->n / square) : 0) : x[e] * g;
        }
        return sum;
    }

    // What the step adds to a weight in units of its feature, g being the gradient there.
    double change(double g, double& m, double& s, const Step& step) const {
        switch (rule_.variant) {
            case Variant::plain:
                return -step.weights * g;
            case Variant::momentum:
                m = decay * m + (1 - decay) * g;
                return -step.weights * m;
            case Variant::nesterov:
                m = decay * m + (1 - decay) * g;
                return -step.weights * (decay * m + (1 - decay) * g);
            case Variant::adam:
                break;
        }
        m = decay * m + (1 - decay) * g;
        s = slow * s + (1 - slow) * g * g;
        const double size = std::sqrt(s / step.second) + step.least;
        return size > 0 ? -step.weights * step.length * (m / step.first) / size : 0;
    }

    void move(Index s, const Step& step, double b) {
        double root = 1, none = 0;
        if (state_.moment) {
            Moment& f = state_.moment[s];
            if (state_.mark[s]) {
                const double square = f.square();
                f.inverse = square > 0 ? f.n / square : 0;
            }
            // a feature that has not varied cannot be told from the intercept
            root = f.spread(c.weight) > 0 ? std::sqrt(f.inverse) : 0;
        }
        for (Index o = 0; o < q_; ++o) {
            const Index e = s * q_ + o;
            state_.v[e] += change(state_.g[e] * root / b, state_.m ? state_.m[e] : none,
                                  state_.s ? state_.s[e] : none, step) *
                           (root / c.scale);
            state_.g[e] = 0;
        }
    }

    // ------------------------------------------------------------ who stays

    std::int32_t add(Index j) {
        const Index s = Index(c.size);
        c.size += 1;
        c.unseen -= 1;
        state_.seen[j / page] += 1;
        state_.id[s] = j;
        state_.mark[s] = 0;
        for (Index o = 0; o < q_; ++o) {
            state_.v[s * q_ + o] = state_.g[s * q_ + o] = 0;
            if (state_.m) state_.m[s * q_ + o] = 0;
            if (state_.s) state_.s[s * q_ + o] = 0;
        }
        if (state_.moment) state_.moment[s] = {0, 0, 0, 0, std::numeric_limits<double>::infinity()};
        return state_.slot[j] = std::int32_t(s + 1);
    }

    double budget() const {
        // the annealing schedule of [Sun], begun after the delay
        const double T = rule_.maturity * (1 - rule_.delay);
        const double t = std::max(0.0, c.batches - rule_.maturity * rule_.delay);
        const double left = (T - t) / (t * rule_.mu + T);
        return rule_.k + std::floor(std::max(0.0, double(state_.p) - rule_.k) * std::max(0.0, left));
    }

    // All features by score, ties by index: the unseen, whose score is 0, are never looked at one by one.
    void truncate(bool sweep, Index touched) {
        if (!sweep && c.theta >= 0)
            for (Index e = 0; e < touched; ++e)
                push({score(state_.touched[e]), double(state_.id[state_.touched[e]])});
        double surplus = c.size + c.unseen - budget();
        if (sweep) c.theta = -1;
        if (surplus <= 0) return;
        gone_.clear();
        while (surplus > 0) {
            if (c.theta < 0) sort_lowest(sweep ? surplus : std::max(surplus, c.size / 4));
            Entry low;
            const bool found = lowest(low);
            if (c.unseen > 0) surplus -= forget(surplus, found && low.score == 0 ? Index(low.feature) : 0);
            if (surplus <= 0) break;
            if (!found) {
                c.theta = -1;  // the pool is used up
                continue;
            }
            pop();
            const Index j = Index(low.feature);
            gone_.push_back(state_.slot[j] - 1);
            state_.slot[j] = -1;
            surplus -= 1;
        }
        compact(sweep);
        if (sweep) c.theta = -1;
    }

    // Drops up to `count` unseen features from the highest index down, none below `floor`; how many.
    double forget(double count, Index floor) {
        Index at = Index(c.limit);
        double done = 0;
        while (done < count && at > floor) {
            const Index start = (at - 1) / page * page;
            const double there = double(page - state_.seen[start / page]);
            if (at == start + page && start >= floor && done + there <= count) {
                done += there;
                at = start;
            } else {
                done += state_.slot[--at] == 0;
            }
        }
        c.limit = double(at);
        c.unseen -= done;
        return done;
    }

    // The lowest slots, sorted; those that score 0 only while there are unseen features, which go with them.
    void sort_lowest(double count) {
        const Index size = Index(c.size);
        scores_.clear();
        for (Index s = 0; s < size; ++s) {
            if (state_.slot[state_.id[s]] < 0) continue;  // popped in this round
            const double score = this->score(s);
            if (c.unseen == 0 || score == 0) scores_.push_back({score, double(state_.id[s])});
        }
        c.work += double(size);
        auto end = scores_.end();
        Entry last{0, 0};
        if (c.unseen == 0) {
            if (count < double(scores_.size())) {
                end = scores_.begin() + Index(count);
                std::nth_element(scores_.begin(), end - 1, scores_.end());
            }
            last = *std::max_element(scores_.begin(), end);
        }
        c.theta = last.score;
        c.last = last.feature;
        std::sort(scores_.begin(), end);
        std::copy(scores_.begin(), end, state_.pool);
        c.pool = 0;
        c.pool_end = double(end - scores_.begin());
        c.loose = 0;
    }

    void push(const Entry& entry) {
        if (c.theta < 0 || Entry{c.theta, c.last} < entry) return;
        if (Index(c.loose) == state_.capacity) {
            c.theta = -1;
            return;
        }
        state_.loose[Index(c.loose)] = entry;
        c.loose += 1;
        std::push_heap(state_.loose, state_.loose + Index(c.loose), [](auto& a, auto& b) { return b < a; });
    }
    bool from_loose() const {
        return c.loose > 0 && (c.pool == c.pool_end || state_.loose[0] < state_.pool[Index(c.pool)]);
    }
    void pop() {
        if (from_loose()) {
            std::pop_heap(state_.loose, state_.loose + Index(c.loose),
                          [](auto& a, auto& b) { return b < a; });
            c.loose -= 1;
        } else {
            c.pool += 1;
        }
    }
    // The next to go. An entry may be stale, but never too high: those that moved were offered again.
    bool lowest(Entry& low) {
        while (c.loose > 0 || c.pool < c.pool_end) {
            low = from_loose() ? state_.loose[0] : state_.pool[Index(c.pool)];
            const std::int32_t slot = state_.slot[Index(low.feature)];
            const double now = slot > 0 ? score(slot - 1) : -1;
            if (now == low.score) return true;
            pop();
            if (now > low.score) push({now, low.feature});
        }
        return false;
    }

    // Closes the gaps: in order where every slot is looked at anyway, so that dense rows are read in order.
    void compact(bool sweep) {
        if (gone_.empty()) return;
        Index size = Index(c.size);
        if (sweep) {
            Index to = 0;
            for (Index s = 0; s < size; ++s)
                if (state_.slot[state_.id[s]] > 0) relocate(s, to++);
            c.work += double(size);
            c.size = double(to);
            return;
        }
        std::sort(gone_.begin(), gone_.end(), std::greater<>());
        for (const Index hole : gone_) relocate(--size, hole);
        c.size = double(size);
    }
    void relocate(Index from, Index to) {
        if (from == to) return;
        state_.id[to] = state_.id[from];
        state_.slot[state_.id[to]] = std::int32_t(to + 1);
        for (Index o = 0; o < q_; ++o) {
            state_.v[to * q_ + o] = state_.v[from * q_ + o];
            state_.g[to * q_ + o] = state_.g[from * q_ + o];
            if (state_.m) state_.m[to * q_ + o] = state_.m[from * q_ + o];
            if (state_.s) state_.s[to * q_ + o] = state_.s[from * q_ + o];
        }
        if (state_.moment) state_.moment[to] = state_.moment[from];
    }

    State state_;
    const Annealing& rule_;
    Q q_;
    RungClock& c;
    std::vector<Entry> scores_;
    std::vector<Index> gone_;
};

// Returns the number of rows learned, fewer than there are where the next step would overflow. The mean loss
// of each batch that ends, before it was learned, goes to `losses` if asked for.
template <class Rows, class Loss, class Q>
Index sfsa(const Rows& X, Loss loss, Q q, const double* y, const double* weight, Rung<Q>& rung,
           double* losses) {
    std::vector<double> scratch(2 * std::size_t(Index(q))), x(std::size_t(X.longest()) + 1);
    std::vector<std::int32_t> at(std::size_t(X.longest()) + 1);
    double *m = scratch.data(), *d = m + q;
    RungClock& clock = rung.clock();
    for (Index i = 0; i < X.rows; ++i) {
        const double r = weight ? weight[i] : 1;
        const Index n = rung.gather(X[i], at.data(), x.data());
        const double norm = rung.margins(n, at.data(), x.data(), r, m);
        const double most = slopes(loss, q, m, rung.scale(), rung.bias(), y + i * q, r, d);
        if (losses)
            for (Index o = 0; o < q; ++o)
                clock.loss += r * loss.value(rung.scale() * m[o] + rung.bias()[o], y[i * q + o]);
        if (rung.learn(loss, n, at.data(), x.data(), r, norm, d, most)) continue;
        if (losses) *losses++ = clock.loss / clock.mass;
        if (!rung.finish(loss.curvature)) return i;
    }
    return X.rows;
}

}  // namespace streamsieve
