// One elimination: ridge-penalised generalised linear models on fewer and fewer columns.
//
//   minimise  sum_i w_i loss(y_i, eta_i) + 1/2 v'Hv - h'v + sum_j L_j/2 |B_j|^2,   eta = ((x - m)/s)'B + b
//
// The intercept b is free. (H, h) is the summary of retired rows, in the units of x, with the intercept last.
// Columns are centred and scaled in thought: beta = B/s, and what is constant in a row goes into the
// intercept.
//
// Each model is solved by Newton steps, each of these by conjugate gradients. Both stop on the decrease of
// the objective per weight: a norm of the gradient would be ruled by what all columns share. Then the weakest
// columns leave, and the next model starts from the weights of the last.
//
// A job does not walk the rows itself. It says at which point it wants the objective or the curvature
// (`load`), is shown every block of rows (`forward`, `turn`, `backward`), and goes on (`advance`). Many jobs,
// of several ridges and folds, thus share one walk over memory, which is what a single one would wait for.
#pragma once
#include <limits>
#include <numeric>

#include "source.hpp"
#include "target.hpp"

namespace streamsieve::sieve {

// Retired rows: H (outputs or 1, w + 1, w + 1) and h (c, w + 1); null where there are none.
struct Summary {
    const double* H = nullptr;
    const double* h = nullptr;
    Index outputs = 0, width = 0;  // width w, without the intercept
};

// Means and divisors of all columns of the store, in its units and in those of the summary; the variance that
// the divisors leave.
struct Units {
    const double *m, *s, *m_summary, *s_summary, *variance;
};

constexpr std::uint8_t kKept = 1, kPositive = 2;  // never leaves; leaves first while its weight is negative

struct Common {
    const Source& source;
    Target target;
    Units units;
    Summary summary;
    bool intercept = true;
    double tolerance = 1e-2;
    int newton_steps = 30, gradients = 200;
    Index groups = 1;
    double share = 0.9;  // of the units that stay, near the end of an elimination
    // By column of the store: the first column of its unit, whose columns leave together, and what holds.
    const std::int32_t* unit = nullptr;
    const std::uint8_t* flags = nullptr;  // kKept, kPositive
    Copy::Limits copies{};                // of the columns of a job
};

struct Fit {
    std::vector<std::int32_t> columns;  // of the store
    std::vector<double> B, b;           // B[a * columns + j]
};

// Units that are left of w on the way to k. To the last size the steps are smaller: with steps of .7, a given
// k loses .4 +- .1 points of accuracy on large sets; on the way to larger sizes they are as good, and
// cheaper.
inline Index next_size(Index w, Index k, bool last, double share) {
    const double kept = !last ? 0.7 : w <= 10 * k ? share : w <= 40 * k ? 0.75 : 0.6;
    return std::max(k, std::min(w - 1, Index(double(w) * kept)));
}

class Job {
  public:
    // `sizes` decrease; a fit is recorded at each.
    Job(const Common& common, const float* weight, std::vector<double> L, Fit start, std::vector<Index> sizes)
        : common_(common),
          target_(common.target),
          c_(common.target.c),
          L_(std::move(L)),
          weight_(weight),
          fit_(std::move(start)),
          sizes_(std::move(sizes)),
          inner_(fit_.columns) {
        total_ = rows_with_weight_ = 0;
        for (Index i = 0; i < common_.source.n; ++i) {
            const double w = weight ? double(weight[i]) : 1.0;
            total_ += w, rows_with_weight_ += w > 0;
        }
        if (rows_with_weight_ > 0) row_ = std::min(1.0, total_ / rows_with_weight_);
        begin();
    }

    Index columns() const { return count(); }
    bool done() const { return phase_ == Phase::done; }
    bool has_copy() const { return copy_ != nullptr; }
    const std::vector<Fit>& fits() const { return fits_; }
    Index work() const {
        return std::visit([](const auto& rows) { return rows.work(); }, *rows_);
    }

    // What a thread holds of a job while it is shown a block.
    struct Scratch {
        std::vector<double> e;            // margins
        std::vector<float> sum, r;        // margins not in e yet; derivatives
        Index forward = 0, backward = 0;  // active columns done
    };

    // A block begins.
    void open(Scratch& s) const {
        const std::size_t R = std::size_t(common_.source.R), c = std::size_t(c_);
        s.e.resize(R * c), s.r.resize(R * c);
        s.sum.assign(R * c, 0.0f);
        for (std::size_t a = 0; a < c; ++a)
            std::fill(s.e.begin() + std::ptrdiff_t(a * R), s.e.begin() + std::ptrdiff_t((a + 1) * R),
                      constant_[a]);
        s.forward = s.backward = 0;
    }
    // Margins of block k: the share of the columns up to `column` of the store
    void forward(Index k, Index column, Scratch& s) const {
        std::visit(
            [&](const auto& rows) {
                const Index to = rows.until(copy_ ? last_if(column) : column);
                if (to > s.forward) rows.forward(k, s.forward, to, s.sum.data(), s.e.data()), s.forward = to;
            },
            *rows_);
    }
    // Derivatives, or second derivatives times the margins
    void turn(Index k, Index group, Scratch& s) {
        const Index R = common_.source.R, first = k * R, n = std::min(R, common_.source.n - first);
        double* g = partial_.data() + group * length_;
        float* curve = curve_.data() + k * R * c_;
        if (phase_ == Phase::gradient) {
            target_.curved(first, n, R, weight_, curve, s.e.data(), s.r.data());
        } else {
            g[length_ - 2] += target_.value(first, n, R, weight_, s.e.data(), s.r.data(), curve, nullptr);
            g[length_ - 1] += target_.curvature(first, n, R, weight_, curve);
        }
        double* sum = g + length_ - 2 - c_;
        for (Index a = 0; a < c_; ++a) {
            double total = 0;
            for (Index i = 0; i < R; ++i) total += double(s.r[std::size_t(a * R + i)]);
            sum[a] += total;
        }
    }
    // The block's share of X'r, up to `column`
    void backward(Index k, Index column, Index group, Scratch& s) {
        std::visit(
            [&](const auto& rows) {
                const Index to = rows.until(copy_ ? last_if(column) : column);
                if (to > s.backward)
                    rows.backward(k, s.backward, to, s.r.data(), partial_.data() + group * length_),
                        s.backward = to;
            },
            *rows_);
    }

    // All blocks have been shown: the next step.
    void advance() {
        if (phase_ == Phase::gradient) return conjugate();
        const double f = collect(at_B_, at_b_, next_B_, next_b_, true);
        if (phase_ == Phase::start || f <= value_ + 1e-4 * t_ * slope_) {
            value_ = f;
            curvature_ = sums_.second;
            fit_.B = at_B_, fit_.b = at_b_;
            g_B_.swap(next_B_), g_b_.swap(next_b_);
            ++steps_;
            return newton();
        }
        t_ *= 0.5;
        if (++halvings_ >= 12) return finish();
        look();
    }

  private:
    enum class Phase { start, gradient, search, done };
    using Doubles = std::vector<double>;

    Index count() const { return Index(fit_.columns.size()); }
    // A copy has columns of its own: it is walked with the last of the store's.
    Index last_if(Index column) const { return column >= common_.source.width ? copy_->source.width : 0; }

    // A model of the present columns.
    void begin() {
        bool smaller = copy_ && copy_->narrow(inner_);
        if (!smaller)
            if (auto made = Copy::of(copy_ ? copy_->source : common_.source, inner_, common_.copies))
                copy_ = std::move(made), smaller = true;
        if (smaller) {
            inner_.resize(fit_.columns.size());
            std::iota(inner_.begin(), inner_.end(), 0);
        }
        rows_.emplace(make_operator(copy_ ? copy_->source : common_.source, inner_, c_, weight_));
        const std::size_t m = std::size_t(count() * c_), c = std::size_t(c_);
        const Index scratch = std::visit([](const auto& rows) { return rows.scratch(); }, *rows_);
        length_ = scratch + c_ + 2;
        partial_.assign(std::size_t(length_ * common_.groups), 0.0);
        curve_.resize(std::size_t(common_.source.blocks() * common_.source.R * c_));
        for (Doubles* v : {&at_B_, &next_B_, &g_B_, &d_B_, &r_B_, &p_B_, &h_B_, &scale_}) v->assign(m, 0.0);
        for (Doubles* v : {&at_b_, &next_b_, &g_b_, &d_b_, &r_b_, &p_b_, &h_b_, &constant_})
            v->assign(c, 0.0);
        raw_.assign(m, 0.0);
        for (Doubles* v : {&m_, &s_, &m_summary_, &s_summary_, &variance_}) v->resize(fit_.columns.size());
        for (std::size_t j = 0; j < fit_.columns.size(); ++j) {
            const std::size_t from_j = std::size_t(fit_.columns[j]);
            m_[j] = common_.units.m[from_j], s_[j] = common_.units.s[from_j];
            m_summary_[j] = common_.units.m_summary[from_j], s_summary_[j] = common_.units.s_summary[from_j];
            variance_[j] = common_.units.variance[from_j];
        }
        steps_ = 0;
        phase_ = Phase::start;
        at_B_ = fit_.B, at_b_ = fit_.b;
        load(at_B_, at_b_);
    }

    // The point at which the next walk computes: beta and constant, in units of the store.
    void load(const Doubles& B, const Doubles& b) {
        const Index w = count();
        for (Index a = 0; a < c_; ++a) {
            double shift = 0;
            for (Index j = 0; j < w; ++j) {
                const double beta = B[std::size_t(a * w + j)] / s_[std::size_t(j)];
                raw_[std::size_t(a * w + j)] = beta;
                shift += m_[std::size_t(j)] * beta;
            }
            constant_[std::size_t(a)] = b[std::size_t(a)] - shift;
        }
        std::visit([&](auto& rows) { rows.set(raw_.data()); }, *rows_);
        std::fill(partial_.begin(), partial_.end(), 0.0);
    }

    // Sums of the walk at (B, b): into (gB, gb), with penalty and summary; the objective where `full`.
    double collect(const Doubles& B, const Doubles& b, Doubles& gB, Doubles& gb, bool full) {
        for (Index group = 1; group < common_.groups; ++group)
            axpy(1, partial_.data() + group * length_, partial_.data(), length_);
        const double* sum = partial_.data() + length_ - 2 - c_;
        const Index w = count();
        std::visit([&](const auto& rows) { rows.get(partial_.data(), gB.data()); }, *rows_);
        double square = 0;
        for (Index a = 0; a < c_; ++a) {
            gb[std::size_t(a)] = sum[a];
            for (Index j = 0; j < w; ++j) {
                double& g = gB[std::size_t(a * w + j)];
                const double weight = B[std::size_t(a * w + j)];
                const double pull = L_[std::size_t(j)] * weight;
                g = (g - m_[std::size_t(j)] * sum[a]) / s_[std::size_t(j)] + pull;
                square += pull * weight;
            }
        }
        sums_ = {sum[c_], sum[c_ + 1]};
        const double value = sum[c_] + 0.5 * square + add_summary(B, b, gB, gb, full);
        if (!common_.intercept) std::fill(gb.begin(), gb.end(), 0.0);
        return value;
    }

    // Adds Hv (and subtracts h, where `linear`) of the summary to (gB, gb); its value
    double add_summary(const Doubles& B, const Doubles& b, Doubles& gB, Doubles& gb, bool linear) const {
        const Summary& summary = common_.summary;
        if (!summary.H) return 0;
        const Index W = summary.width, side = W + 1, w = count();
        double value = 0;
        Doubles v(std::size_t(w + 1)), u(std::size_t(w + 1));
        for (Index a = 0; a < c_; ++a) {
            const double* H = summary.H + (summary.outputs > 1 ? a * side * side : 0);
            const double* h = summary.h + a * side;
            double last = b[std::size_t(a)];
            for (std::size_t j = 0; j < std::size_t(w); ++j) {
                v[j] = B[std::size_t(a * w) + j] / s_summary_[j];
                last -= m_summary_[j] * v[j];
            }
            v[std::size_t(w)] = last;
            for (Index j = 0; j <= w; ++j) {
                const double* row = H + (j < w ? Index(fit_.columns[std::size_t(j)]) : W) * side;
                double s = row[W] * last;
                if (w == W) {
                    s += dot(row, v.data(), W);
                } else {
                    for (std::size_t i = 0; i < std::size_t(w); ++i) s += row[fit_.columns[i]] * v[i];
                }
                const double hj = linear ? h[j < w ? Index(fit_.columns[std::size_t(j)]) : W] : 0;
                value += v[std::size_t(j)] * (0.5 * s - hj);
                u[std::size_t(j)] = s - hj;
            }
            gb[std::size_t(a)] += u[std::size_t(w)];
            for (std::size_t j = 0; j < std::size_t(w); ++j)
                gB[std::size_t(a * w) + j] += (u[j] - m_summary_[j] * u[std::size_t(w)]) / s_summary_[j];
        }
        return value;
    }

    // Begins the conjugate gradients of a Newton step.
    void newton() {
        if (steps_ > common_.newton_steps) return finish();
        const bool spread = target_.loss.has_units && !target_.joint;
        // Weights of more than 1 are counts of rows, smaller ones shares: the objective is in units of a row.
        const double rows = std::max({total_, rows_with_weight_, 1.0});
        const double unit = std::max(spread ? 2.0 * value_ / rows : row_, 1e-300);
        const double size = common_.summary.H ? double(count()) : std::min(double(count()), std::ceil(rows));
        // On the way only the weakest columns matter. With few rows a column a solution that is not reached
        // ranks otherwise: the data leave directions to the ridge.
        loose_ = rows >= 4.0 * double(count()) && common_.tolerance >= 1e-2;
        const bool on_the_way = !sizes_.empty() && count() > sizes_.front();
        enough_ = (loose_ && on_the_way ? 5 : 1) * common_.tolerance * std::max(size, 1.0) * unit;
        mean_ = curvature_;
        if (common_.summary.H) {
            const Index side = common_.summary.width + 1;
            for (Index a = 0; a < common_.summary.outputs; ++a)
                mean_ += common_.summary.H[(a + 1) * side * side - 1] / double(common_.summary.outputs);
        }
        mean_ = std::max(mean_, 1e-12 * row_);
        const std::size_t w = std::size_t(count());
        for (std::size_t j = 0; j < scale_.size(); ++j) {
            scale_[j] = 1.0 / (mean_ * variance_[j % w] + L_[j % w]);
            d_B_[j] = 0, r_B_[j] = -g_B_[j], p_B_[j] = r_B_[j] * scale_[j];
        }
        for (std::size_t a = 0; a < std::size_t(c_); ++a)
            d_b_[a] = 0, r_b_[a] = -g_b_[a], p_b_[a] = r_b_[a] / mean_;
        rz_ = inner(r_B_, r_b_, p_B_, p_b_);
        gain_ = 0, gradients_ = 0;
        if (!(rz_ > 0)) return finish();
        phase_ = Phase::gradient;
        load(p_B_, p_b_);
    }

    void conjugate() {
        collect(p_B_, p_b_, h_B_, h_b_, false);
        if (common_.intercept)
            for (std::size_t a = 0; a < std::size_t(c_); ++a)
                h_b_[a] += 1e-6 * row_ * p_b_[a];  // all rows of one class: singular otherwise
        const double curve = inner(p_B_, p_b_, h_B_, h_b_);
        if (!(curve > 0)) return direction();
        const double a = rz_ / curve, won = 0.5 * a * rz_;
        add(a, p_B_, d_B_), add(a, p_b_, d_b_), add(-a, h_B_, r_B_), add(-a, h_b_, r_b_);
        gain_ += won;
        const double least =
            loose_ ? std::max(0.05 * enough_, 0.02 * gain_) : std::max(0.01 * enough_, 0.002 * gain_);
        if (won <= least || ++gradients_ >= common_.gradients) return direction();
        double next = 0;
        for (std::size_t j = 0; j < r_B_.size(); ++j) next += r_B_[j] * r_B_[j] * scale_[j];
        for (const double r : r_b_) next += r * r / mean_;
        const double ratio = next / rz_;
        rz_ = next;
        if (!(rz_ > 0)) return direction();
        for (std::size_t j = 0; j < r_B_.size(); ++j) p_B_[j] = r_B_[j] * scale_[j] + ratio * p_B_[j];
        for (std::size_t j = 0; j < r_b_.size(); ++j) p_b_[j] = r_b_[j] / mean_ + ratio * p_b_[j];
        load(p_B_, p_b_);
    }

    // The Newton direction is there: go, or look first whether the objective falls.
    void direction() {
        slope_ = inner(g_B_, g_b_, d_B_, d_b_);
        if (!(slope_ < 0)) return finish();
        if (-slope_ <= enough_) {  // what is still to gain is half of it
            add(1, d_B_, fit_.B), add(1, d_b_, fit_.b);
            return finish();
        }
        t_ = 1, halvings_ = 0;
        look();
    }

    void look() {
        phase_ = Phase::search;
        at_B_ = fit_.B, at_b_ = fit_.b;
        add(t_, d_B_, at_B_), add(t_, d_b_, at_b_);
        load(at_B_, at_b_);
    }

    // The model is solved: record it, drop the weakest units.
    void finish() {
        const Index w = count();
        // units are numbered in their order; no array here is as long as the store is wide
        std::vector<std::int32_t> ids(std::size_t(w), 0);
        for (Index j = 0; j < w; ++j) ids[std::size_t(j)] = common_.unit[fit_.columns[std::size_t(j)]];
        std::vector<std::int32_t> distinct = ids;
        if (!std::is_sorted(distinct.begin(), distinct.end())) std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        std::vector<std::size_t> unit(std::size_t(w), 0);
        Doubles strength(distinct.size(), 0), size(distinct.size(), 0);
        for (std::size_t j = 0, next = 0; j < ids.size(); ++j) {
            std::size_t u = next;  // without groups the next column has the next unit
            if (u < distinct.size() && distinct[u] == ids[j])
                ++next;
            else
                u = std::size_t(std::lower_bound(distinct.begin(), distinct.end(), ids[j]) -
                                distinct.begin());
            unit[j] = u, size[u] += 1;
            strength[u] += weight_of(Index(j), common_.flags[fit_.columns[j]]);
        }
        const Index units = Index(strength.size());
        for (std::size_t u = 0; u < strength.size(); ++u) strength[u] /= size[u];
        while (!sizes_.empty() && sizes_.front() >= units) {
            fits_.push_back(fit_);
            sizes_.erase(sizes_.begin());
        }
        if (sizes_.empty()) {
            phase_ = Phase::done;
            rows_.reset(), copy_.reset();
            for (Doubles* v :
                 {&partial_, &at_B_, &next_B_, &g_B_, &d_B_, &r_B_, &p_B_, &h_B_, &scale_, &raw_})
                Doubles().swap(*v);
            std::vector<float>().swap(curve_);
            return;
        }
        const Index kept = next_size(units, sizes_.front(), sizes_.size() == 1, common_.share);
        std::vector<Index> order(strength.size(), 0);
        std::iota(order.begin(), order.end(), Index(0));
        std::nth_element(order.begin(), order.begin() + kept, order.end(), [&](Index i, Index j) {
            const double x = strength[std::size_t(i)], y = strength[std::size_t(j)];
            return x > y || (x == y && i < j);  // ties stay with the lower index
        });
        std::vector<bool> stays(strength.size(), false);
        for (Index i = 0; i < kept; ++i) stays[std::size_t(order[std::size_t(i)])] = true;
        std::vector<std::size_t> from;
        for (std::size_t j = 0; j < unit.size(); ++j)
            if (stays[unit[j]]) from.push_back(j);
        Fit fewer{std::vector<std::int32_t>(from.size()), Doubles(from.size() * std::size_t(c_)), fit_.b};
        std::vector<std::int32_t> places(from.size(), 0);
        for (std::size_t j = 0; j < from.size(); ++j) {
            fewer.columns[j] = fit_.columns[from[j]];
            L_[j] = L_[from[j]];  // from[j] >= j
            places[j] = inner_[from[j]];
            for (std::size_t a = 0; a < std::size_t(c_); ++a)
                fewer.B[a * from.size() + j] = fit_.B[a * std::size_t(w) + from[j]];
        }
        L_.resize(from.size());
        fit_ = std::move(fewer);
        inner_ = std::move(places);
        begin();
    }

    // The square of a column's weights, with their sign where they have to be positive.
    double weight_of(Index j, std::uint8_t flags) const {
        if (flags & kKept) return std::numeric_limits<double>::infinity();
        double total = 0;
        for (Index a = 0; a < c_; ++a) {
            const double b = fit_.B[std::size_t(a * count() + j)];
            total += (flags & kPositive) && b < 0 ? -b * b : b * b;
        }
        return total;
    }

    static double inner(const Doubles& a, const Doubles& b, const Doubles& x, const Doubles& y) {
        return dot(a.data(), x.data(), Index(a.size())) + dot(b.data(), y.data(), Index(b.size()));
    }
    static void add(double a, const Doubles& x, Doubles& y) { axpy(a, x.data(), y.data(), Index(x.size())); }

    const Common& common_;
    const Target& target_;
    Index c_;
    std::vector<double> L_;  // penalty of each column
    const float* weight_;
    double total_, rows_with_weight_, row_ = 1;  // weights, and of one row, at most 1
    Fit fit_;
    std::vector<Index> sizes_;
    std::vector<std::int32_t> inner_;  // columns of the source or of the copy
    std::vector<Fit> fits_;
    std::unique_ptr<Copy> copy_;
    std::optional<Operator> rows_;

    Phase phase_ = Phase::start;
    bool loose_ = false;
    int steps_ = 0, gradients_ = 0, halvings_ = 0;
    double value_ = 0, slope_ = 0, t_ = 1, rz_ = 0, gain_ = 0, enough_ = 0, mean_ = 1, curvature_ = 0;
    std::pair<double, double> sums_;
    Index length_ = 0;
    Doubles partial_, raw_, constant_, m_, s_, m_summary_, s_summary_, variance_, scale_;
    Doubles at_B_, next_B_, g_B_, d_B_, r_B_, p_B_, h_B_;
    Doubles at_b_, next_b_, g_b_, d_b_, r_b_, p_b_, h_b_;
    std::vector<float> curve_;
};

}  // namespace streamsieve::sieve
