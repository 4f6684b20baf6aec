// The units a step is taken in. Raw: those of the data. Moments: each feature divided by the root of its mean
// square where it is present, so that neither the step nor the ranking depends on units.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rows.hpp"
#include "core/steps.hpp"

namespace streamsieve {

// Of the non-zero values of a feature: their weight, the first, and sum and sum of squares of the differences
// from it, which keeps the digits that plain sums of squares lose when a mean is large.
struct Values {
    double n, first, sum, squares;
    void take(double x, double r) {
        if (n == 0) first = x;
        const double d = x - first;
        n += r;
        sum += r * d;
        squares += r * d * d;
    }
    double square() const { return squares + first * (2 * sum + n * first); }
    // n times the variance, zeros counted, from the sums about the first value: no digits are lost where a
    // mean is large, and no division is needed but the one in `over`, 1 / total. It never falls.
    double spread(double total, double over) const {
        const double zeros = total - n, away = sum - zeros * first;
        return std::max(0.0, squares + zeros * first * first - away * (away * over));
    }
};

// Units offer `pass(row, r, f(e, j, x, renew))`: one walk over the row that takes its moments in, calls f for
// every entry e, and returns its norm; `renew` is the old unit of the feature over the new one, while these
// are still settling; then, entry by entry, `direction(row, e)`, the step's direction u. A weight
// w of feature j ranks, after rows of total weight n, by w^2 `spread(j, n)`, n times the variance; a weight
// that is u by `rank(row, e, n)`, which is at most `reach(row, e)`.
class Raw {
  public:
    template <class Row, class F>
    Norm pass(const Row& row, double, F&& f) {
        Norm norm;
        for (Index e = 0; e < row.length; ++e) {
            const double x = row.value(e);
            if (x != 0) norm.add(x * x);
            f(e, row.index(e), x, 1.0);
        }
        return norm;
    }
    template <class Row>
    double direction(const Row& row, Index e) const {
        return row.value(e);
    }
    template <class Row>
    double reach(const Row& row, Index e) const {
        return row.value(e) * row.value(e);
    }
    template <class Row>
    double rank(const Row& row, Index e, double) const {
        return reach(row, e);
    }
    double spread(Index, double) const { return 1; }
};

// State: (p, 4), for each feature the weight of its non-zero values, the first of them, and the sum and the
// sum of squares of their differences from it, which keeps the digits that plain sums of squares lose when a
// mean is large. The zeros, which nobody visits, are merged in when the variance is read.
class Moments {
  public:
    Moments(double* state, Index longest) : moments_(state), scratch_(2 * std::size_t(longest)) {}

    template <class Row, class F>
    Norm pass(const Row& row, double r, F&& f) {
        Norm norm;
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            const double x = row.value(e);
            prefetch(moments_ + 4 * row.soon(e));
            double* out = scratch_.data() + 2 * e;
            if (x == 0) {
                f(e, j, x, 1.0);
                out[0] = out[1] = 0;
                continue;
            }
            double* m = moments_ + 4 * j;
            const double before = m[0] > 0 && m[0] < settled ? sum_of_squares(m) / m[0] : 0;
            if (m[0] == 0) m[1] = x;
            const double d = x - m[1];
            m[0] += r;
            m[2] += r * d;
            m[3] += r * d * d;
            const double n = m[0], square = sum_of_squares(m);
            const double over = square > 0 ? 1 / square : 0;  // 0 where the squares underflow
            const double u = x * n * over;                    // x over the mean square of its feature
            f(e, j, x, before > 0 ? std::sqrt(before * n * over) : 1.0);
            out[0] = u;
            out[1] = u * x * n;  // u^2 times the sum of squares, of which the spread is a part
            norm.add(u * x);
        }
        return norm;
    }
    template <class Row>
    double direction(const Row&, Index e) const {
        return scratch_[std::size_t(2 * e)];
    }
    template <class Row>
    double reach(const Row&, Index e) const {
        return scratch_[std::size_t(2 * e + 1)] * (1 + 1e-12);  // an upper bound in spite of rounding
    }
    // Written so that features seen once, in the same row, rank the same to the last bit: a tie is a tie.
    template <class Row>
    double rank(const Row& row, Index e, double n) const {
        const double* m = moments_ + 4 * row.index(e);
        const double x = row.value(e);
        return x * (m[0] * x) / sum_of_squares(m) * m[0] * share(m, n);
    }
    // Never falls, whatever rows come: a stale value is a lower bound.
    double spread(Index j, double n) const {
        const double* m = moments_ + 4 * j;
        return sum_of_squares(m) * share(m, n);
    }

  private:
    static constexpr double settled = 64;  // values after which a unit is within a tenth of what it will be
    static double sum_of_squares(const double* m) { return m[3] + m[1] * (2 * m[2] + m[0] * m[1]); }
    // The part of the sum of squares that is variance, the zeros counted.
    static double share(const double* m, double n) {
        const double square = sum_of_squares(m), off = m[2] / m[0], mean = m[1] + off;
        return std::max(0.0, m[3] - off * m[2]) / square +
               mean * (m[0] * mean) / square * std::max(0.0, 1 - m[0] / n);
    }

    double* moments_;
    std::vector<double> scratch_;
};

}  // namespace streamsieve
