// Ridge-penalised generalised linear models on the rows of a store, by truncated Newton.
//
//   minimise  sum_i w_i loss(y_i, eta_i) + 1/2 v'Hv - h'v + L/2 |B|^2,   eta = ((x - m)/s)'B + b
//
// The intercept b is free. (H, h) is the summary of retired rows, in the units of x, with the intercept last.
// Columns are centred and scaled in thought: beta = B/s, and what is constant in a row goes into the intercept.
// A Newton step is solved by conjugate gradients, each of one pass over the rows. Both stop on the decrease of
// the objective per weight: a norm of the gradient would be ruled by what all columns share.
//
// Cost: one pass over rows x active columns for the start, one for each conjugate gradient and each step.
#pragma once
#include <cmath>
#include <functional>
#include <limits>

#include "../parallel.hpp"
#include "operators.hpp"

namespace streamsieve::sieve {

enum class Kind { squared, logistic, softmax, poisson, huber };

struct Target {
    Kind kind;
    Index c;              // outputs
    const double* y;      // (n, c) targets, or (n, 1) class codes
    const float* weight;  // (n); zero leaves a row out
    double delta;         // of the Huber loss

    // Loss of the first `rows` rows of a block, whose margins are e[a * R + i]; where `r` is given also the
    // derivative, and in `curve` the second derivative (softmax: the probabilities). `each` gets the losses.
    double value(Index first, Index rows, Index R, const double* e, float* r, float* curve,
                 double* each) const {
        double total = 0;
        for (Index i = 0; i < rows; ++i) {
            const double w = weight ? double(weight[first + i]) : 1.0;
            const double f = kind == Kind::softmax ? softmax(first + i, i, R, w, e, r, curve)
                                                   : separate(first + i, i, R, w, e, r, curve);
            total += w * f;
            if (each) each[i] = f;
        }
        if (r)  // the rows that a last tile lacks
            for (Index a = 0; a < c; ++a)
                for (Index i = rows; i < R; ++i) r[a * R + i] = 0, curve[a * R + i] = 0;
        return total;
    }

  private:
    double softmax(Index row, Index i, Index R, double w, const double* e, float* r, float* curve) const {
        double top = e[i], sum = 0;
        for (Index a = 1; a < c; ++a) top = std::max(top, e[a * R + i]);
        const Index code = Index(y[row]);
        for (Index a = 0; a < c; ++a) {
            const double p = std::exp(e[a * R + i] - top);
            sum += p;
            if (curve) curve[a * R + i] = float(p);
        }
        if (r)
            for (Index a = 0; a < c; ++a) {
                const float p = float(double(curve[a * R + i]) / sum);
                curve[a * R + i] = p;
                r[a * R + i] = float(w * (double(p) - (a == code ? 1.0 : 0.0)));
            }
        return std::log(sum) + top - e[code * R + i];
    }
    double separate(Index row, Index i, Index R, double w, const double* e, float* r, float* curve) const {
        double total = 0;
        for (Index a = 0; a < c; ++a) {
            const double t = e[a * R + i], u = y[row * c + a];
            double f = 0, d = 0, d2 = 1;
            if (kind == Kind::logistic) {
                const double small = std::exp(-std::abs(t)), p = (t >= 0 ? 1.0 : small) / (1.0 + small);
                f = std::log1p(small) + std::max(t, 0.0) - u * t;
                d = p - u;
                d2 = std::max(p * (1.0 - p), 1e-8);
            } else if (kind == Kind::poisson) {
                const double mean = std::exp(std::min(t, 50.0));
                f = mean - u * t;
                d = mean - u;
                d2 = std::max(mean, 1e-8);
            } else if (kind == Kind::huber && std::abs(t - u) > delta) {
                f = delta * (std::abs(t - u) - 0.5 * delta);
                d = t > u ? delta : -delta;
                d2 = delta / std::abs(t - u);  // majorises, so that every step descends
            } else {
                f = 0.5 * (t - u) * (t - u);
                d = t - u;
            }
            total += f;
            if (r) {
                r[a * R + i] = float(w * d);
                curve[a * R + i] = float(w * d2);
            }
        }
        return total;
    }
};

// Margins to second derivatives times them: z = D e, in place of e.
inline void curve_times(const Target& t, Index first, Index rows, Index R, const float* curve, const double* e,
                        float* z) {
    if (t.kind != Kind::softmax) {
        for (Index at = 0; at < t.c * R; ++at) z[at] = float(double(curve[at]) * e[at]);
        return;
    }
    for (Index i = 0; i < R; ++i) {
        const double w = i < rows ? (t.weight ? double(t.weight[first + i]) : 1.0) : 0.0;
        double mean = 0;
        for (Index a = 0; a < t.c; ++a) mean += double(curve[a * R + i]) * e[a * R + i];
        for (Index a = 0; a < t.c; ++a)
            z[a * R + i] = float(w * double(curve[a * R + i]) * (e[a * R + i] - mean));
    }
}

// Retired rows: H (outputs or 1, w + 1, w + 1) and h (c, w + 1), both null where there are none.
struct Summary {
    const double* H = nullptr;
    const double* h = nullptr;
    Index outputs = 0, width = 0;  // width w, without the intercept
};

// Where the columns are: means and deviations of the active ones, in units of the store and of the summary.
struct Units {
    const double *m, *s, *m_summary, *s_summary;
};

struct Effort {
    double tolerance = 1e-2;
    int newton = 30, gradients = 200;
    unsigned threads = 1;
    std::function<void()> poll;  // throws to interrupt
};

template <class Rows>
class Glm {
  public:
    Glm(Rows& rows, const Target& target, const Units& units, const Summary& summary,
        const std::int32_t* active, Index count, double L, const Effort& effort)
        : rows_(rows), target_(target), units_(units), summary_(summary), active_(active), count_(count),
          c_(target.c), L_(L), effort_(effort) {
        // groups by the work alone; their sums g together stay below 16 MB
        const Index by_work = rows_.work() / 500'000;
        const Index by_memory = (Index(16) << 20) / (8 * std::max<Index>(rows_.scratch(), 1));
        groups_ = std::clamp<Index>(std::min(by_work, by_memory), 1, 16);
        groups_ = std::min(groups_, std::max<Index>(rows_.blocks(), 1));
        partial_.resize(std::size_t(groups_ * (rows_.scratch() + c_ + 1)));
        raw_.resize(std::size_t(count_ * c_));
        constant_.resize(std::size_t(c_));
    }

    // The objective at (B, b), its gradient (gB, gb), and the second derivatives for `curvature`.
    double evaluate(const double* B, const double* b, double* gB, double* gb) {
        curve_.resize(std::size_t(rows_.blocks() * rows_.block_rows() * c_));
        load(B, b);
        double f = pass(gB, gb, [this](Index first, Index n, const double* e, float* r, float* curve) {
            return target_.value(first, n, rows_.block_rows(), e, r, curve, nullptr);
        });
        f += add_summary(B, b, gB, gb, true);
        double square = 0;
        for (Index j = 0; j < count_ * c_; ++j) {
            square += B[j] * B[j];
            gB[j] += L_ * B[j];
        }
        return f + 0.5 * L_ * square;
    }

    // The second derivative times (V, v)
    void curvature(const double* V, const double* v, double* HV, double* Hv) {
        load(V, v);
        pass(HV, Hv, [this](Index first, Index n, const double* e, float* z, float* curve) {
            curve_times(target_, first, n, rows_.block_rows(), curve, e, z);
            return 0.0;
        });
        add_summary(V, v, HV, Hv, false);
        for (Index j = 0; j < count_ * c_; ++j) HV[j] += L_ * V[j];
        for (Index a = 0; a < c_; ++a) Hv[a] += 1e-6 * v[a];  // all rows of one class: singular otherwise
    }

    // Losses (n) or, where `margins` is given, margins (n, c), without weights
    void losses(const double* B, const double* b, double* each, double* margins) {
        load(B, b);
        const Index R = rows_.block_rows(), blocks = rows_.blocks();
        const unsigned threads = used_threads();
        parallel(threads, [&](unsigned t) {
            std::vector<double> e(std::size_t(R * c_));
            for (Index k = share(blocks, t, threads); k < share(blocks, t + 1, threads); ++k) {
                const Index first = k * R, n = std::min(R, rows_.rows() - first);
                margins_of(k, e.data());
                if (each) target_.value(first, n, R, e.data(), nullptr, nullptr, each + first);
                if (margins)
                    for (Index i = 0; i < n; ++i)
                        for (Index a = 0; a < c_; ++a)
                            margins[(first + i) * c_ + a] = e[std::size_t(a * R + i)];
            }
        });
        after_pass();
    }

    // Newton's method from (B, b), in place; the objective.
    double solve(double* B, double* b) {
        const Index m = count_ * c_;
        std::vector<double> gB(std::size_t(m), 0.0), next(gB), dB(gB), rB(gB), pB(gB), hB(gB), at(gB);
        std::vector<double> gb(std::size_t(c_), 0.0), next_b(gb), db(gb), rb(gb), pb(gb), hb(gb), at_b(gb);
        std::vector<double> scale(std::size_t(m), 0.0);
        double f = evaluate(B, b, gB.data(), gb.data());
        double weight = 0;
        for (Index i = 0; i < rows_.rows(); ++i) weight += target_.weight ? double(target_.weight[i]) : 1.0;
        const double size = double(summary_.H ? count_ : std::min(count_, Index(std::ceil(weight))));
        for (int step = 0; step < effort_.newton; ++step) {
            const bool spread = target_.kind == Kind::squared || target_.kind == Kind::huber;
            const double unit = spread ? std::max(2.0 * f / std::max(weight, 1.0), 1e-300) : 1.0;
            const double enough = effort_.tolerance * std::max(size, 1.0) * unit;
            const double mean = std::max(precondition(scale.data(), weight), 1e-12);

            for (Index j = 0; j < m; ++j) dB[j] = 0, rB[j] = -gB[j], pB[j] = rB[j] * scale[j];
            for (Index a = 0; a < c_; ++a) db[a] = 0, rb[a] = -gb[a], pb[a] = rb[a] / mean;
            double rz = dot(rB.data(), pB.data(), m) + dot(rb.data(), pb.data(), c_), gain = 0;
            for (int k = 0; k < effort_.gradients && rz > 0; ++k) {
                curvature(pB.data(), pb.data(), hB.data(), hb.data());
                const double curve = dot(pB.data(), hB.data(), m) + dot(pb.data(), hb.data(), c_);
                if (!(curve > 0)) break;
                const double a = rz / curve, won = 0.5 * a * rz;
                axpy(a, pB.data(), dB.data(), m), axpy(a, pb.data(), db.data(), c_);
                axpy(-a, hB.data(), rB.data(), m), axpy(-a, hb.data(), rb.data(), c_);
                gain += won;
                if (won <= std::max(0.01 * enough, 0.002 * gain)) break;
                double rz2 = 0;
                for (Index j = 0; j < m; ++j) rz2 += rB[j] * rB[j] * scale[j];
                for (Index j = 0; j < c_; ++j) rz2 += rb[j] * rb[j] / mean;
                const double ratio = rz2 / rz;
                rz = rz2;
                for (Index j = 0; j < m; ++j) pB[j] = rB[j] * scale[j] + ratio * pB[j];
                for (Index j = 0; j < c_; ++j) pb[j] = rb[j] / mean + ratio * pb[j];
            }
            const double slope = dot(gB.data(), dB.data(), m) + dot(gb.data(), db.data(), c_);
            if (!(slope < 0)) break;
            if (-slope <= enough) {  // the decrease still to come is half of it: no look needed
                axpy(1, dB.data(), B, m), axpy(1, db.data(), b, c_);
                return f + 0.5 * slope;
            }
            double t = 1;
            bool lower = false;
            for (int half = 0; half < 12 && !lower; ++half, t *= 0.5) {
                for (Index j = 0; j < m; ++j) at[j] = B[j] + t * dB[j];
                for (Index a = 0; a < c_; ++a) at_b[a] = b[a] + t * db[a];
                const double g = evaluate(at.data(), at_b.data(), next.data(), next_b.data());
                if (g <= f + 1e-4 * t * slope) f = g, lower = true;
            }
            if (!lower) break;
            std::copy(at.begin(), at.end(), B), std::copy(at_b.begin(), at_b.end(), b);
            gB.swap(next), gb.swap(next_b);
        }
        return f;
    }

  private:
    unsigned used_threads() const {
        return rows_.work() < 2'000'000 ? 1u : std::min(effort_.threads, unsigned(groups_));
    }

    // beta and the constant of (B, b), in units of the store
    void load(const double* B, const double* b) {
        for (Index a = 0; a < c_; ++a) {
            double shift = 0;
            for (Index j = 0; j < count_; ++j) {
                const double beta = B[a * count_ + j] / units_.s[j];
                raw_[std::size_t(a * count_ + j)] = beta;
                shift += units_.m[j] * beta;
            }
            constant_[std::size_t(a)] = b[a] - shift;
        }
        rows_.set(raw_.data());
    }

    void margins_of(Index block, double* e) const {
        const Index R = rows_.block_rows();
        for (Index a = 0; a < c_; ++a) std::fill(e + a * R, e + (a + 1) * R, constant_[std::size_t(a)]);
        rows_.forward(block, e);
    }

    // Margins of all rows, f(first, rows, e, r, curve) on each block, X'r and the sums of r
    template <class F>
    double pass(double* gB, double* gb, F f) {
        const Index R = rows_.block_rows(), blocks = rows_.blocks(), scratch = rows_.scratch(), c = c_;
        const Index length = scratch + c + 1;
        const unsigned threads = used_threads();
        parallel(threads, [&](unsigned t) {
            std::vector<double> e(std::size_t(R * c));
            std::vector<float> r(std::size_t(R * c));
            for (Index group = t; group < groups_; group += threads) {
                double* g = partial_.data() + group * length;
                std::fill(g, g + length, 0.0);
                for (Index k = group * blocks / groups_; k < (group + 1) * blocks / groups_; ++k) {
                    const Index first = k * R, n = std::min(R, rows_.rows() - first);
                    margins_of(k, e.data());
                    g[scratch + c] += f(first, n, e.data(), r.data(), curve_.data() + k * R * c);
                    rows_.backward(k, r.data(), g);
                    for (Index a = 0; a < c; ++a)
                        for (Index i = 0; i < R; ++i) g[scratch + a] += double(r[std::size_t(a * R + i)]);
                }
            }
        });
        for (Index group = 1; group < groups_; ++group)
            axpy(1, partial_.data() + group * length, partial_.data(), length);
        const double* sum = partial_.data() + scratch;
        rows_.get(partial_.data(), gB);
        for (Index a = 0; a < c; ++a) {
            gb[a] = sum[a];
            for (Index j = 0; j < count_; ++j) {
                double& g = gB[a * count_ + j];
                g = (g - units_.m[j] * sum[a]) / units_.s[j];
            }
        }
        after_pass();
        return sum[c];
    }

    // Adds Hv (and subtracts h, where `linear`) of the summary to (gB, gb); its value
    double add_summary(const double* B, const double* b, double* gB, double* gb, bool linear) {
        if (!summary_.H) return 0;
        const Index W = summary_.width, side = W + 1;
        double value = 0;
        std::vector<double> v(std::size_t(count_ + 1)), u(std::size_t(count_ + 1));
        for (Index a = 0; a < c_; ++a) {
            const double* H = summary_.H + (summary_.outputs > 1 ? a * side * side : 0);
            const double* h = summary_.h + a * side;
            double last = b[a];
            for (Index j = 0; j < count_; ++j) {
                v[std::size_t(j)] = B[a * count_ + j] / units_.s_summary[j];
                last -= units_.m_summary[j] * v[std::size_t(j)];
            }
            v[std::size_t(count_)] = last;
            const unsigned threads = count_ * count_ < 500'000 ? 1u : effort_.threads;
            parallel(threads, [&](unsigned t) {
                for (Index j = share(count_ + 1, t, threads); j < share(count_ + 1, t + 1, threads); ++j) {
                    const double* row = H + (j < count_ ? Index(active_[j]) : W) * side;
                    u[std::size_t(j)] = (count_ == W ? dot(row, v.data(), W) : gathered(row, v.data())) +
                                        row[W] * v[std::size_t(count_)];
                }
            });
            for (Index j = 0; j <= count_; ++j) {
                const double hj = linear ? h[j < count_ ? Index(active_[j]) : W] : 0;
                value += v[std::size_t(j)] * (0.5 * u[std::size_t(j)] - hj);
                u[std::size_t(j)] -= hj;
            }
            gb[a] += u[std::size_t(count_)];
            for (Index j = 0; j < count_; ++j)
                gB[a * count_ + j] +=
                    (u[std::size_t(j)] - units_.m_summary[j] * u[std::size_t(count_)]) / units_.s_summary[j];
        }
        return value;
    }
    double gathered(const double* row, const double* v) const {
        double s0 = 0, s1 = 0;
        Index j = 0;
        for (; j + 1 < count_; j += 2) s0 += row[active_[j]] * v[j], s1 += row[active_[j + 1]] * v[j + 1];
        if (j < count_) s0 += row[active_[j]] * v[j];
        return s0 + s1;
    }

    // 1 / (mean curvature of a column + L) for each weight; the mean curvature of the intercepts
    double precondition(double* scale, double weight) const {
        double total = 0;
        const Index R = rows_.block_rows();
        if (target_.kind == Kind::softmax) {
            for (Index k = 0; k < rows_.blocks(); ++k)
                for (Index i = 0; i < std::min(R, rows_.rows() - k * R); ++i) {
                    const double w = target_.weight ? double(target_.weight[k * R + i]) : 1.0;
                    double rest = 0;
                    for (Index a = 0; a < c_; ++a) {
                        const double p = double(curve_[std::size_t((k * c_ + a) * R + i)]);
                        rest += p * (1 - p);
                    }
                    total += w * rest;
                }
        } else {
            for (const float d : curve_) total += double(d);
        }
        total /= double(c_);
        if (summary_.H) {
            const Index side = summary_.width + 1;
            for (Index a = 0; a < summary_.outputs; ++a)
                total += summary_.H[(a + 1) * side * side - 1] / double(summary_.outputs);
        }
        (void)weight;
        for (Index j = 0; j < count_ * c_; ++j) scale[j] = 1.0 / (total * variance_[std::size_t(j % count_)] + L_);
        return total;
    }

    void after_pass() {
        work_ += rows_.work();
        if (effort_.poll && work_ > 100'000'000) work_ = 0, effort_.poll();
    }

  public:
    std::vector<double> variance_;  // of the standardised columns: 1, or what their scaling leaves

  private:
    Rows& rows_;
    const Target& target_;
    Units units_;
    Summary summary_;
    const std::int32_t* active_;
    Index count_, c_;
    double L_;
    const Effort& effort_;
    Index groups_ = 1, work_ = 0;
    std::vector<double> partial_, raw_, constant_;
    std::vector<float> curve_;
};

}  // namespace streamsieve::sieve
