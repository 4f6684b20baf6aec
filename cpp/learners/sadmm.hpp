// Stochastic ADMM for the lasso, min f(w) + l1 |z|_1 with w = z and multiplier u: OPG-ADMM (Ouyang et al.
// 2013, Suzuki 2013) and RDA-ADMM (Suzuki 2013).
//   opg: w <- (w + eta_t (rho z + u - g)) / (1 + eta_t rho)
//   rda: w <- eta_t (U + u - G) / (1 + eta_t rho),   G, U the sums of the gradients and of u so far
//   both: z <- soft(w - u / rho, l1 / rho),  u <- u - rho (w - z)
// z and u are the two parts of one number s = w - u_before / rho: z = soft(s, l1 / rho), u = -rho (s - z).
//
// A weight that the row does not touch moves on. In the opg form that has a closed form piece by piece, with
// e = eta_t rho and tau = l1 / rho:
//   |s| > tau: after one row s = w + tau sign(s), and then |w| falls by l1 eta_t / (1 + e) a row, until w
//   has
//     changed its sign: a sum over the rows skipped, the same for all weights;
//   |s| <= tau: z = 0 and (w, s) <- M (w, s), M = ((1, -e), (1, 1)) / (1 + e), a spiral. The product of the M
//   is
//     the same for all weights too. It shrinks V = w^2 + e s^2 by 1 + e, so that s cannot come out again once
//     V <= e tau^2, where e falls by no more than 1 + e a row ("smooth"). So it always is after |s| > tau.
// What is left are the few rows after a gradient until the one or the other, which are made up one by one; so
// are all rows skipped in the rda form. Sums and products are kept in a ring, and every `period` rows all
// weights are brought up to date, O(p): p / period a row.
#pragma once
#include "learners/ladder.hpp"

namespace streamsieve {

// Of row t, at t % ring: its step, and what the rows since the last multiple of `period` come to.
struct Skipped {
    double eta;
    double fall;        // sum of eta / (1 + e)
    double shrink;      // sum of log(1 + e) / 2
    double a, b, c, d;  // product of the M, times e^shrink: its determinant is 1
    double rough;       // the last row, if any, whose e was not smooth after that of the row before
};

constexpr Index ring = 8192, period = 4096;  // period + what is walked at a time is less than the ring

struct Sadmm {
    const double* l1;
    double rho;
    bool averaged;                 // the rda form
    double* last;                  // (1) the last step
    Skipped* skipped;              // (ring)
    double *w, *s, *G, *U, *then;  // (p, width); `then` counts the rows that a weight has seen
    Index p, width;

    Pace pace(const Norm& norm, double r, const double*, Index, StepSize& step, double curvature) const {
        Pace out = pace_of(step.next(norm, r, curvature), norm);
        if (averaged && *last > 0 && !(out.weights < *last)) out.weights = *last;
        *last = out.weights;
        skip(Index(step.clock->rows), out.weights);
        return out;
    }
    Skipped& of(double row) const { return skipped[Index(row) % ring]; }
    void skip(Index row, double eta) const {
        const Skipped before = since(double(row - 1));
        const double e = eta * rho, root = std::sqrt(1 + e),
                     last_e = row > 1 ? of(double(row - 1)).eta * rho : e;
        of(double(row)) = {eta,
                           before.fall + eta / (1 + e),
                           before.shrink + std::log(root),
                           (before.a - e * before.c) / root,
                           (before.b - e * before.d) / root,
                           (before.a + before.c) / root,
                           (before.b + before.d) / root,
                           last_e <= e * (1 + last_e) ? before.rough : double(row)};
    }

    void share(Own& own) {
        own.given(l1);
        for (double** x : {&w, &s, &G, &U, &then}) own.table(*x);
        width = own.n;
    }

    struct Weight {
        double w, s, G, U;
    };
    void advance(Weight& v, double g, double eta, double most) const {
        const double z = soft(v.s, most), u = rho * (z - v.s);
        if (averaged) {
            v.G += g;
            v.U += u;
            v.w = eta * (v.U + u - v.G) / (1 + eta * rho);
        } else {
            v.w = (v.w + eta * (rho * z + u - g)) / (1 + eta * rho);
        }
        v.s = v.w - u / rho;
        if (std::abs(v.w) < 1e-100 && std::abs(v.s) < 1e-100) v.w = v.s = 0;
    }
    Weight load(Index i) const { return {w[i], s[i], averaged ? G[i] : 0, averaged ? U[i] : 0}; }
    void store(Index i, const Weight& v, double t) const {
        w[i] = v.w, s[i] = v.s, then[i] = t;
        if (averaged) G[i] = v.G, U[i] = v.U;
    }
    // the weight at i of a column as of row t
    Weight at(Index i, double most, double t) const {
        Weight v = load(i);
        double k = then[i];
        while (k < t && !(v.w == 0 && v.s == 0 && v.G == 0 && v.U == 0)) {
            if (averaged) {
                advance(v, 0, of(++k).eta, most);
            } else if (std::abs(v.s) > most) {
                advance(v, 0, of(++k).eta, most);
                if (std::abs(v.s) > most && (v.s > 0) == (v.w > 0)) k = fall(v, most, k, t);
            } else if (const double e = of(k + 1).eta * rho;
                       of(t).rough <= k + 1 && v.w * v.w + e * v.s * v.s <= e * most * most) {
                spiral(v, k, t);
                k = t;
            } else {
                advance(v, 0, of(++k).eta, most);
            }
        }
        return v;
    }
    // From row k, after which s = w + tau sign(s), as far as that lasts or to row t; the row reached.
    double fall(Weight& v, double most, double k, double t) const {
        const double strength = most * rho, now = since(k).fall, size = std::abs(v.w);
        // the first row after which w has not its sign any more, if there is one until t
        double low = k, high = t;
        while (low + 1 < high) {
            const double middle = std::floor((low + high) / 2);
            (strength * (of(middle).fall - now) < size ? low : high) = middle;
        }
        if (high > k) {
            const double sign = std::copysign(1.0, v.s);
            v.w -= sign * (strength * (of(high).fall - now));
            v.s = v.w + sign * most;
        }
        return high;
    }
    void spiral(Weight& v, double k, double t) const {
        const Skipped from = since(k), &to = of(t);
        const double by = std::exp(from.shrink - to.shrink);
        const double x = from.d * v.w - from.b * v.s, y = from.a * v.s - from.c * v.w;  // from's inverse
        v.w = by * (to.a * x + to.b * y), v.s = by * (to.c * x + to.d * y);
        if (std::abs(v.w) < 1e-100 && std::abs(v.s) < 1e-100) v.w = v.s = 0;
    }
    Skipped since(double row) const {
        return Index(row) % period == 0 ? Skipped{0, 0, 0, 1, 0, 0, 1, 0} : of(row);
    }
    void settle(Index column, double t) const {
        for (Index i = column; i < p * width; i += width) store(i, at(i, l1[column] / rho, t), t);
    }

    struct Columns {
        const Sadmm& rule;
        Index first;
        double eta = 0, bias = 0, t = 0;

        void start(const Pace& pace, double row) { eta = pace.weights, bias = pace.bias, t = row; }
        double most(Index c) const { return rule.l1[first + c] / rule.rho; }
        void expect(Index at, Index c) const { prefetch(rule.w + at + c); }
        double read(Index at, Index c) const {
            const Weight v = rule.at(at + c, most(c), t - 1);
            rule.store(at + c, v, t - 1);
            return v.w;
        }
        void learn(Index at, Index c, double, double g) const {
            Weight v = rule.load(at + c);
            rule.advance(v, g, eta, most(c));
            rule.store(at + c, v, t);
        }
        double intercept(Index, double b, double d) const { return b - bias * d; }
        void turn(Index c) const {
            if (Index(t) % period == 0) rule.settle(first + c, t);
        }
    };
    Columns columns(Index first, Index) const { return {*this, first}; }
};

}  // namespace streamsieve
