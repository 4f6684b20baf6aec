// Losses of a row's margins, with their first two derivatives, a block of rows at a time.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/simd.hpp"

namespace streamsieve::sieve {

enum class Kind { squared, logistic, softmax, poisson, huber };

struct Target {
    Kind kind;
    Index c;          // margins of a row
    const double* y;  // (n, c) targets, or (n, 1) class codes
    double delta;     // of the Huber loss

    // Loss of the first `rows` rows of a block, whose margins are e[a * R + i]; where `r` is given also the
    // derivative, and in `curve` the second derivative (softmax: the probabilities), both times the weight.
    // `each` gets the losses.
    double value(Index first, Index rows, Index R, const float* weight, const double* e, float* r,
                 float* curve, double* each) const {
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

    // The second derivative times the margins e.
    void curved(Index first, Index rows, Index R, const float* weight, const float* curve, const double* e,
                float* z) const {
        if (kind != Kind::softmax) {
            for (Index at = 0; at < c * R; ++at) z[at] = float(double(curve[at]) * e[at]);
            return;
        }
        for (Index i = 0; i < R; ++i) {
            const double w = i >= rows ? 0.0 : weight ? double(weight[first + i]) : 1.0;
            double mean = 0;
            for (Index a = 0; a < c; ++a) mean += double(curve[a * R + i]) * e[a * R + i];
            for (Index a = 0; a < c; ++a)
                z[a * R + i] = float(w * double(curve[a * R + i]) * (e[a * R + i] - mean));
        }
    }

    // Sum of the second derivatives of the block, a mean over the margins.
    double curvature(Index first, Index rows, Index R, const float* weight, const float* curve) const {
        double total = 0;
        for (Index i = 0; i < rows; ++i) {
            const double w = kind != Kind::softmax ? 1.0 : weight ? double(weight[first + i]) : 1.0;
            for (Index a = 0; a < c; ++a) {
                const double d = double(curve[a * R + i]);
                total += w * (kind == Kind::softmax ? d * (1 - d) : d);
            }
        }
        return total / double(c);
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

}  // namespace streamsieve::sieve
