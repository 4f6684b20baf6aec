// Stochastic feature selection with annealing ([Sun] Algorithm 1): one model on its way from p features to k.
//
// A row costs O(nnz) look-ups and O(alive nnz q) work; a batch that ends, O(q) for each slot it touched (with
// momentum, Nesterov and Adam, which move every weight, for each slot). What a removal costs is in
// annealed_slots.hpp. Before the first feature goes every row is a step of its own.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/losses.hpp"
#include "learners/annealed_slots.hpp"
#include "learners/sgd.hpp"

namespace streamsieve {

enum class Variant { plain, momentum, nesterov, adam };

// What stays the same for all rows.
struct Annealing {
    double k, annealing, batch_size;  // annealing: mu of the paper
    double begin, maturity;           // batches before the first feature goes, and T
    Variant variant;
    double eta;  // the user's, or 0: derived
    Schedule schedule;
    double alpha;  // of the penalty alpha / 2 |beta|^2
    bool fit_intercept;
    bool units, deviations;  // steps in units of the features; ranks by sigma_j |beta_j|, not |beta_j|
    bool exact;              // features are removed after every batch, however few its values are
    bool choosing;           // features are still being chosen: weights are to count all batches
};

// The entries of a row whose features are alive: slots and values, and their units.
struct Entries {
    explicit Entries(std::size_t most) : at(most), x(most), inverse(most), square(most) {}
    Index n = 0;
    std::vector<std::int32_t> at;
    std::vector<double> x;
    std::vector<double> inverse, square;  // 1 / mean square of the feature, from weight and sum
};

// Divides the weights by the sums of squares, all together; returns the squared norm of x in these units.
STREAMSIEVE_CLONES inline double divide_units(Index n, const double* x, double* weight,
                                              const double* square) {
    double norm = 0;
#pragma omp simd reduction(+ : norm)
    for (Index e = 0; e < n; ++e) {
        weight[e] = square[e] >= least_square ? weight[e] / square[e] : 0;
        norm += x[e] * x[e] * weight[e];
    }
    return norm;
}

template <class Q>
class AnnealedModel {
  public:
    AnnealedModel(const AnnealedState& state, const Annealing& rule, Q q)
        : slots_(state, rule.deviations, q),
          touched_(state.touched),
          bias_(state.bias),
          units_(rule.units),
          rule_(rule),
          q_(q),
          c(state.clock) {}

    // ------------------------------------------------------------ rows

    // The alive non-zeros of a row: their slots and values.
    template <class Row>
    void gather(const Row& row, Entries& entries) {
        entries.n = slots_.gather(row, entries.at.data(), entries.x.data());
    }

    // m = W'x / scale; takes the moments in; returns |x|^2 in units of the features.
    double margins(Entries& entries, double r, double* m) {
        const Index n = entries.n;
        const std::int32_t* at = entries.at.data();
        const double* x = entries.x.data();
        for (Index o = 0; o < q_; ++o) m[o] = 0;
        // four sums, or the latency of one addition after the other is the time of the loop
        double dot[4] = {0, 0, 0, 0}, norms[4] = {0, 0, 0, 0};
        auto add_entry = [&](Index e, int lane) {
            Slot& f = slots_[at[e]];
            double* w = f.weights();
            if (units_) {
                add_value(f, x[e], r);
                entries.inverse[std::size_t(e)] = weight_of(f, c.weight + r);
                entries.square[std::size_t(e)] = f.square();
            } else {
                if (rule_.deviations) f.add(x[e], r);
                norms[lane] += x[e] * x[e];
            }
            if constexpr (std::is_same_v<Q, One>)
                dot[lane] += x[e] * *w;
            else
                for (Index o = 0; o < q_; ++o) m[o] += x[e] * w[o];
        };
        Index e = 0;
        for (; e + 4 <= n; e += 4)
            add_entry(e, 0), add_entry(e + 1, 1), add_entry(e + 2, 2), add_entry(e + 3, 3);
        for (; e < n; ++e) add_entry(e, 0);
        if constexpr (std::is_same_v<Q, One>) *m = (dot[0] + dot[1]) + (dot[2] + dot[3]);
        if (units_) return divide_units(n, x, entries.inverse.data(), entries.square.data());
        return (norms[0] + norms[1]) + (norms[2] + norms[3]);
    }

    // Whether no feature may go at the end of this batch: then its rows are steps.
    bool warming() const { return c.batches + 1 <= rule_.begin; }

    // Counts a row with slopes d; whether there is more to come of its batch.
    bool count(const Entries& entries, double r, double norm, const double* d, double most) {
        for (Index o = 0; o < q_; ++o) {
            bias_[q_ + o] += d[o];
            c.slopes += d[o] * d[o];
        }
        c.weight += r;
        c.mass += r;
        c.trace += r * norm;
        c.count += double(entries.n);
        c.work += double(entries.n);
        c.reach += most * std::max(1.0, std::sqrt(norm));
        c.filled += 1;
        return c.filled < rule_.batch_size;
    }

    // Adds r loss' x, of a row that is not counted yet, to the gradient of the batch.
    void add_gradient(const Entries& entries, const double* d) {
        const std::int32_t* at = entries.at.data();
        const double* x = entries.x.data();
        const Index n = entries.n;
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
            Slot& f = slots_[at[e]];
            double* g = f.weights() + q_;
            for (Index o = 0; o < q_; ++o) g[o] += x[e] * d[o];
            touched_[touched] = at[e];
            touched += f.mark == 0;
            f.mark = 1;
        }
        c.touched = double(touched);
    }

    // A step for a row alone, which is counted: that of SGD (core/steps.hpp). A given eta is that of a batch,
    // shared out among its rows. False where it would overflow.
    bool step_row(double curvature, Entries& entries, double r, double norm, const double* d, double most) {
        const Index n = entries.n;
        const double rows = c.batches * rule_.batch_size + c.filled;
        c.norms += r * norm;
        c.entries += double(n);
        Step step{};
        step.unit = intercept_unit();
        const double square = r * (norm + step.unit);
        c.norm += (square - c.norm) / rows;
        const double length = 4 * curvature * std::max(c.norm, square);
        step.weights = fade(rule_.schedule, c.batches + 1, c.horizon);
        if (rule_.eta > 0) {
            step.weights *= rule_.eta / rule_.batch_size;
            step.unit = 1;
        } else {
            step.weights = length > 0 ? step.weights / (length + rule_.alpha) : 0;
        }
        c.step = step.weights;
        const double reach = most * std::max(1.0, std::sqrt(norm));
        // the squares of slopes at such weights are still finite
        if (!(step.weights * std::max(1.0, step.unit) * reach < 1e152)) return false;
        if (rule_.alpha > 0) shrink(1 - step.weights * rule_.alpha);
        step.plain = step.weights / c.scale;
        for (std::size_t e = 0; e < std::size_t(n); ++e) {
            Slot& f = slots_[entries.at[e]];
            double *v = f.weights(), inverse = 1;
            if (units_) inverse = f.varies(c.weight) ? entries.inverse[e] : 0;
            for (Index o = 0; o < q_; ++o) v[o] -= step.plain * (entries.x[e] * d[o] * inverse);
        }
        for (Index o = 0; o < q_; ++o) {
            double* f = bias_ + o;
            if (rule_.fit_intercept) *f -= step.weights * step.unit * f[q_];
            f[q_] = 0;
        }
        c.work += double(n);
        return true;
    }

    // ------------------------------------------------------------ the end of a batch

    // One step, unless its rows have made theirs, then the M_t largest; false where the step would overflow.
    bool finish(double curvature) {
        const double b = c.filled;
        if (warming()) {
            c.batches += 1;
            note_slopes();
            begin_batch();
            return true;
        }
        c.batches += 1;
        Step step = derive(curvature);
        c.step = step.weights;
        if (!(step.weights * std::max(1.0, step.unit) * c.reach / b < 1e100)) return false;
        if (rule_.alpha > 0) shrink(1 - step.weights * rule_.alpha);
        step.plain = step.weights / (b * c.scale);
        const bool all = rule_.variant != Variant::plain;
        const Index size = Index(c.size), touched = Index(c.touched);
        for (Index e = 0; e < (all ? size : touched); ++e) {
            if (!all && e + 8 < touched) prefetch(&slots_[touched_[e + 8]]);
            move(all ? e : touched_[e], step, b);
        }
        for (Index o = 0; o < q_; ++o) {
            double* f = bias_ + o;
            const double root = std::sqrt(step.unit);
            if (rule_.fit_intercept) *f += change(f[q_] * root / b, f[2 * q_], f[3 * q_], step) * root;
            f[q_] = 0;
        }
        c.work += double(all ? size : touched);
        const bool often = all || rule_.exact || 2 * double(size) <= c.count;
        slots_.truncate(budget(), often, c.batches >= rule_.maturity);
        begin_batch();
        return true;
    }

    const double* bias() const { return bias_; }
    double scale() const { return c.scale; }
    AnnealedClock& clock() { return c; }

  private:
    struct Step {
        double weights, unit, plain;          // plain: over batch size and scale
        double length, first, second, least;  // Adam's
    };

    static constexpr double decay = 0.9, slow = 0.999;  // of momentum, and of Adam's second moments
    static constexpr double memory = 100;               // batches that the running means look back

    void begin_batch() {
        c.filled = c.touched = c.trace = c.mass = c.count = c.reach = c.slopes = c.loss = 0;
    }

    // Mean square of the values, which the intercept's 1 stands beside.
    double intercept_unit() const {
        if (!rule_.fit_intercept) return 0;
        return units_ || !(c.entries > 0) ? 1 : c.norms / c.entries;
    }

    double rate() const { return std::max(1 / c.batches, 1 / memory); }

    // Takes the slopes of the batch into their mean square.
    void note_slopes() { c.slope += (c.slopes / (c.filled * double(Index(q_))) - c.slope) * rate(); }

    // The derived step is 1 / (L (Lambda + R^2 / b)): for b independent rows the mean square of the error
    // contracts at any step below twice that, Lambda the largest eigenvalue of their second moments, L the
    // bound of the loss's second derivative. Lambda^2 is at most the mean of (x'x')^2 over pairs of rows, of
    // which the first two rows of a batch give one; at first, R^4. As a share of R^4 it outlives the features
    // that go. A batch whose own pair or norms are larger than they have been gets a shorter step. And while
    // features are chosen no step forgets the batches before it faster than their number grows: weights then
    // weigh all of them, and the more features are gone, and the longer the steps that would be stable, the
    // more this matters.
    Step derive(double curvature) {
        const double b = c.filled, mass = c.mass / b;
        c.norms += c.trace;
        c.entries += c.count;
        const double unit = intercept_unit(), trace = c.trace / b + mass * unit;
        note_slopes();
        c.norm += (trace - c.norm) * rate();
        double pair = 0;
        if (c.pairs == 0) c.cross = 1;
        if (c.pair >= 0 && trace > 0) {
            pair = mass * (c.pair + unit);
            c.pairs += 1;
            c.cross += (pair * pair / (trace * trace) - c.cross) * std::max(1 / (c.pairs + 1), 1 / memory);
        }
        double length = std::max(c.norm, trace);
        if (b > 1) length = std::max(std::sqrt(c.cross) * trace, pair) + trace / b;
        if (rule_.choosing) length = std::max(length, 0.5 * c.batches * c.norm / (c.size + c.unseen));
        Step step{};
        step.weights = fade(rule_.schedule, c.batches, c.horizon);
        if (rule_.eta > 0)
            step.weights *= rule_.eta;
        else
            step.weights = length > 0 ? step.weights / (curvature * length + rule_.alpha) : 0;
        step.unit = rule_.eta > 0 ? 1 : unit;
        // Adam divides a gradient by its size; a derived step gives it back the size of the slopes
        step.length = rule_.eta > 0 ? 1 : std::sqrt(c.slope);
        const double t = c.batches - std::floor(rule_.begin);  // steps with moments
        step.first = 1 - std::pow(decay, t);
        step.second = 1 - std::pow(slow, t);
        step.least = 1e-8 * step.length;
        return step;
    }

    void shrink(double by) {
        c.scale *= by;
        if (c.scale >= tiny_scale) return;
        for (Index s = 0; s < Index(c.size); ++s)
            for (Index o = 0; o < q_; ++o) slots_[s].weights()[o] *= c.scale;
        c.scale = 1;
    }

    // x'x' of this row and the first one, which is all that the gradient sums hold, times the first's slope
    double crossed(Index n, const std::int32_t* at, const double* x) const {
        double sum = 0;
        for (Index e = 0; e < n; ++e) {
            const Slot& f = slots_[at[e]];
            const double g = f.weights()[q_ + Index(c.output)], square = f.square();
            if (g == 0) continue;
            // the weight of the rows before: this one adds the same to all
            sum += !units_                  ? x[e] * g
                   : square >= least_square ? x[e] * g * (weight_of(f, c.weight) / square)
                                            : 0;
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

    // Takes a value in. A weight follows its unit while that settles, and where a value outweighs all before
    // it: else a feature whose first value happens to be tiny would have a huge weight when its usual values
    // come, and one whose unit a damaged cell has changed would predict nonsense.
    void add_value(Slot& f, double x, double r) const {
        const Values old = f;
        f.add(x, r);
        const double square = f.square();
        if (old.n >= settled && !(2 * (r * x * x) > square)) return;
        const double before = old.n > 0 ? old.square() / old.n : 0;
        if (before == 0) return;  // as are the weights, or they are of squares that vanish
        const double ratio = std::sqrt(before * (square >= least_square ? f.n / square : 0));
        for (Index o = 0; o < q_; ++o) f.weights()[o] *= ratio;
    }

    // What the sum of squares of a feature is divided by for its mean square: the weight of all rows with a
    // derived step, so that rare features are chosen as frequent ones are (core/units.hpp), else of its
    // values.
    double weight_of(const Slot& f, double rows) const { return rule_.eta > 0 ? f.n : rows; }

    // What a step is divided by: the mean square of the feature.
    double inverse_unit(Slot& f) {
        f.mark = 0;
        if (!units_) return 1;
        // a feature that has not varied cannot be told from the intercept
        const double square = f.square();
        return f.varies(c.weight) && square >= least_square ? weight_of(f, c.weight) / square : 0;
    }

    void move_plain(Index at, const Step& step) {
        Slot& f = slots_[at];
        const double inverse = inverse_unit(f);
        double *v = f.weights(), *g = v + q_;
        for (Index o = 0; o < q_; ++o) {
            v[o] -= step.plain * (g[o] * inverse);
            g[o] = 0;
        }
    }

    void move(Index at, const Step& step, double b) {
        if (rule_.variant == Variant::plain) return move_plain(at, step);
        Slot& f = slots_[at];
        const double root = std::sqrt(inverse_unit(f));
        double *v = f.weights(), *g = v + q_;
        double *m = slots_.moments(at), *s = m + q_;
        for (Index o = 0; o < q_; ++o) {
            v[o] += change(g[o] * root / b, m[o], s[o], step) * (root / c.scale);
            g[o] = 0;
        }
    }

    double budget() const {
        // the annealing schedule of [Sun], begun after the warmup
        const double T = rule_.maturity - rule_.begin, t = std::max(0.0, c.batches - rule_.begin);
        const double left = (T - t) / (t * rule_.annealing + T);
        return rule_.k + std::floor(std::max(0.0, double(slots_.features()) - rule_.k) * std::max(0.0, left));
    }

    AnnealedSlots<Q> slots_;
    std::int32_t* touched_;  // the slots that are marked
    double* bias_;           // (4, q): intercepts, and their gradient sums and moments
    bool units_;             // steps are in units of the features, or of the data
    const Annealing& rule_;
    Q q_;
    AnnealedClock& c;
};

// Returns the number of rows learned, fewer than there are where the next step would overflow. The mean loss
// of each batch that ends, before it was learned, goes to `losses` if asked for. Without rows, the batch ends
// as it is.
template <class Q>
Index sfsa(const LazyRows& X, const Loss& loss, Q q, const double* y, const double* weight,
           AnnealedModel<Q>& model, double* losses) {
    const Index rows = std::visit([](const auto& all) { return all.rows; }, X);
    const auto longest = std::size_t(std::visit([](const auto& all) { return all.longest(); }, X));
    std::vector<double> scratch(2 * std::size_t(Index(q)));
    Entries entries(longest + 1);
    double *m = scratch.data(), *d = m + q;
    AnnealedClock& clock = model.clock();
    if (rows == 0 && clock.filled > 0) model.finish(loss.curvature);
    for (Index i = 0; i < rows; ++i) {
        const double r = weight ? weight[i] : 1;
        // the one place that looks at the layout
        std::visit([&](const auto& all) { model.gather(all[i], entries); }, X);
        const double norm = model.margins(entries, r, m);
        const double most = slopes(loss, q, m, model.scale(), model.bias(), y + i * q, r, d);
        if (losses)
            for (Index o = 0; o < q; ++o)
                clock.loss += r * loss.value(model.scale() * m[o] + model.bias()[o], y[i * q + o]);
        const bool alone = model.warming();
        if (!alone) model.add_gradient(entries, d);
        const bool more = model.count(entries, r, norm, d, most);
        if (alone && !model.step_row(loss.curvature, entries, r, norm, d, most)) return i;
        if (more) continue;
        if (losses) *losses++ = clock.loss / clock.mass;
        if (!model.finish(loss.curvature)) return i;
    }
    return rows;
}

}  // namespace streamsieve
