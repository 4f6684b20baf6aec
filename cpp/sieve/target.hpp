// Losses of a row's margins, with their first two derivatives, a block of rows at a time.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/losses.hpp"
#include "operators.hpp"

namespace streamsieve::sieve {

constexpr double kLeastBend = 1e-8;  // rows that are fitted perfectly still hold their weights

// e^x for x <= 0, to a few units in the last place; without branches, so that a loop of it is vectorised.
STREAMSIEVE_INLINE double exp_negative(double x) {
    x = x > -700.0 ? x : -700.0;
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double shifted = x * 1.4426950408889634 + magic, k = shifted - magic;
    const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;  // |r| <= log(2) / 2
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
    return p * std::bit_cast<double>(power);
}

// Of a block of R rows with margins e[a * R + i] of c classes: the largest margin of each row, and the sum of
// exp(e - top); these into `curve`, where it is given.
STREAMSIEVE_CLONES inline void softmax_sums(Index R, const double* e, Index c, double* top, double* sum,
                                            float* curve) {
    for (Index i = 0; i < R; ++i) top[i] = e[i], sum[i] = 0;
    for (Index a = 1; a < c; ++a)
#pragma omp simd
        for (Index i = 0; i < R; ++i) top[i] = e[a * R + i] > top[i] ? e[a * R + i] : top[i];
    for (Index a = 0; a < c; ++a)
        if (curve) {
#pragma omp simd
            for (Index i = 0; i < R; ++i) {
                const double p = exp_negative(e[a * R + i] - top[i]);
                sum[i] += p;
                curve[a * R + i] = float(p);
            }
        } else {
#pragma omp simd
            for (Index i = 0; i < R; ++i) sum[i] += exp_negative(e[a * R + i] - top[i]);
        }
}

// Probabilities from these, and their product with the weight.
STREAMSIEVE_CLONES inline void softmax_slopes(Index R, Index c, const double* w, const double* sum,
                                              float* curve, float* r) {
    for (Index a = 0; a < c; ++a)
#pragma omp simd
        for (Index i = 0; i < R; ++i) {
            const float p = float(double(curve[a * R + i]) / sum[i]);
            curve[a * R + i] = p;
            r[a * R + i] = float(w[i] * double(p));
        }
}

// The second derivative times the margins e: w p (e - p'e).
STREAMSIEVE_CLONES inline void softmax_curved(Index R, Index c, const double* w, const float* curve,
                                              const double* e, double* mean, float* z) {
    for (Index i = 0; i < R; ++i) mean[i] = 0;
    for (Index a = 0; a < c; ++a)
#pragma omp simd
        for (Index i = 0; i < R; ++i) mean[i] += double(curve[a * R + i]) * e[a * R + i];
    for (Index a = 0; a < c; ++a)
#pragma omp simd
        for (Index i = 0; i < R; ++i)
            z[a * R + i] = float(w[i] * double(curve[a * R + i]) * (e[a * R + i] - mean[i]));
}

struct Target {
    Loss loss;        // of each margin
    bool joint;       // or the margins are of classes, and the loss is logistic of all of them: softmax
    Index c;          // margins of a row
    const double* y;  // (n, c) targets, or (n, 1) class codes where they are joint

    // Loss of the first `rows` rows of a block, whose margins are e[a * R + i]; where `r` is given also the
    // derivative, and in `curve` the second derivative (softmax: the probabilities), both times the weight.
    // `each` gets the losses.
    double value(Index first, Index rows, Index R, const float* weight, const double* e, float* r,
                 float* curve, double* each) const {
        if (joint) return softmax(first, rows, R, weight, e, r, curve, each);
        return loss.visit(
            [&](const auto& one) { return separate(one, first, rows, R, weight, e, r, curve, each); });
    }

    // The second derivative times the margins e.
    void curved(Index first, Index rows, Index R, const float* weight, const float* curve, const double* e,
                float* z) const {
        if (!joint) {
            for (Index at = 0; at < c * R; ++at) z[at] = float(double(curve[at]) * e[at]);
            return;
        }
        double w[kMostRows], mean[kMostRows];
        weights(first, rows, R, weight, w);
        softmax_curved(R, c, w, curve, e, mean, z);
    }

    // Sum of the second derivatives of the block, a mean over the margins.
    double curvature(Index first, Index rows, Index R, const float* weight, const float* curve) const {
        double total = 0;
        for (Index i = 0; i < rows; ++i) {
            const double w = joint && weight ? double(weight[first + i]) : 1.0;
            for (Index a = 0; a < c; ++a) {
                const double d = double(curve[a * R + i]);
                total += w * (joint ? d * (1 - d) : d);
            }
        }
        return total / double(c);
    }

  private:
    // Of the rows of a block; zero for those that a last tile lacks
    static void weights(Index first, Index rows, Index R, const float* weight, double* w) {
        for (Index i = 0; i < R; ++i) w[i] = i >= rows ? 0.0 : weight ? double(weight[first + i]) : 1.0;
    }
    double softmax(Index first, Index rows, Index R, const float* weight, const double* e, float* r,
                   float* curve, double* each) const {
        double top[kMostRows], sum[kMostRows], w[kMostRows];
        weights(first, rows, R, weight, w);
        softmax_sums(R, e, c, top, sum, r ? curve : nullptr);
        if (r) softmax_slopes(R, c, w, sum, curve, r);
        double total = 0;
        for (Index i = 0; i < rows; ++i) {
            const Index code = Index(y[first + i]);
            const double f = std::log(sum[i]) + top[i] - e[code * R + i];
            if (r) r[code * R + i] = float(w[i] * (double(curve[code * R + i]) - 1.0));
            total += w[i] * f;
            if (each) each[i] = f;
        }
        return total;
    }
    template <class One>
    double separate(const One& one, Index first, Index rows, Index R, const float* weight, const double* e,
                    float* r, float* curve, double* each) const {
        double total = 0;
        for (Index i = 0; i < rows; ++i) {
            const double w = weight ? double(weight[first + i]) : 1.0;
            double f = 0;
            for (Index a = 0; a < c; ++a) {
                const LossPoint here = one.at(e[a * R + i], y[(first + i) * c + a]);
                f += here.value;
                if (r) {
                    r[a * R + i] = float(w * here.derivative);
                    curve[a * R + i] = float(w * std::max(here.bend, kLeastBend));
                }
            }
            total += w * f;
            if (each) each[i] = f;
        }
        if (r)  // the rows that a last tile lacks
            for (Index a = 0; a < c; ++a)
                for (Index i = rows; i < R; ++i) r[a * R + i] = 0, curve[a * R + i] = 0;
        return total;
    }
};

}  // namespace streamsieve::sieve
