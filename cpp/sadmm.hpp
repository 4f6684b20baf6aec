// Stochastic ADMM for the lasso, min f(w) + lam |z|_1 with w = z and multiplier u: OPG-ADMM (Ouyang et al.
// 2013, Suzuki 2013) and RDA-ADMM (Suzuki 2013).
//   opg: w <- (w + eta_t (rho z + u - g)) / (1 + eta_t rho)
//   rda: w <- eta_t (U + u - G) / (1 + eta_t rho),   G, U the sums of the gradients and of u so far
//   both: z <- soft(w - u / rho, lam / rho),  u <- u - rho (w - z)
// z and u are the two parts of one number s = w - u_before / rho: z = soft(s, lam / rho), u = -rho (s - z).
//
// A weight that the row does not touch moves on, and turns round: while z = 0, (w, u) is a spiral whose
// matrix changes with eta_t, and matrices of different eta_t do not commute, so there is no closed form for
// the rows skipped. They are made up one by one when the weight is next touched, O(rows skipped), until (opg)
// all is zero, where it stays. The steps of the rows skipped are kept in a ring, and every `period` rows all
// weights are brought up to date, O(p): p / period a row.
#pragma once
#include "ladder.hpp"

namespace streamsieve {

constexpr Index ring = 8192, period = 4096;  // period + what is walked at a time is less than the ring

struct Sadmm {
    const double* lam;
    double rho;
    bool averaged;                 // the rda form
    double *last, *etas;           // (1) the last step, (ring) the step of row t at t % ring
    double *w, *s, *G, *U, *then;  // (p, width); `then` counts the rows that a weight has seen
    Index p, width;

    Pace pace(const Norm& norm, double r, const double*, Index, StepSize& step, double curvature) const {
        Pace out = pace_of(step.next(norm, r, curvature), norm);
        if (averaged && *last > 0 && !(out.weights < *last)) out.weights = *last;
        *last = out.weights;
        etas[Index(step.clock->rows) % ring] = out.weights;
        return out;
    }

    void share(Own& own) {
        own.given(lam);
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
        for (double k = then[i] + 1; k <= t; k += 1) {
            if (v.w == 0 && v.s == 0 && v.G == 0 && v.U == 0) break;
            advance(v, 0, etas[Index(k) % ring], most);
        }
        return v;
    }
    void settle(Index column, double t) const {
        for (Index i = column; i < p * width; i += width) store(i, at(i, lam[column] / rho, t), t);
    }

    struct Columns {
        const Sadmm& rule;
        Index first;
        double eta = 0, bias = 0, t = 0;

        void start(const Pace& pace, double row) { eta = pace.weights, bias = pace.bias, t = row; }
        double most(Index c) const { return rule.lam[first + c] / rule.rho; }
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
