// The units a step is taken in. Raw: those of the data. Moments: each feature divided by the root of its mean
// square where it is present, so that neither the step nor the ranking depends on units.
#pragma once
#include <algorithm>
#include <vector>

#include "rows.hpp"
#include "steps.hpp"

namespace streamsieve {

// A unit offers `pass(row, r, f(j, x))`: one walk over the row that takes its moments in, calls f, and
// returns its norm; then `each(row, f(j, u))`: the direction of the step, entry by entry; and `spread(j, n)`:
// n times the variance that ranks feature j after rows of total weight n.
class Raw {
  public:
    template <class Row, class F>
    Norm pass(const Row& row, double, F&& f) {
        Norm norm;
        row.each([&](Index j, double x) {
            norm.square += x * x;
            norm.count += x != 0;
            f(j, x);
        });
        return norm;
    }
    template <class Row, class F>
    void each(const Row& row, F&& f) const {
        row.each(f);
    }
    double spread(Index, double) const { return 1; }
};

// State: (p, 3), for each feature the weight, mean and centred sum of squares of its non-zero values
// (Welford); the zeros, which nobody visits, are merged in when the variance is read (Chan et al.).
class Moments {
  public:
    Moments(double* state, Index longest) : moments_(state), direction_(std::size_t(longest)) {}

    template <class Row, class F>
    Norm pass(const Row& row, double r, F&& f) {
        Norm norm;
        double* u = direction_.data();
        row.each([&](Index j, double x) {
            f(j, x);
            if (x == 0) {
                *u++ = 0;
                return;
            }
            double* m = moments_ + 3 * j;
            const double n = m[0] + r, d = x - m[1];
            const double mean = m[1] + d * (r / n), sum = m[2] + r * d * (x - mean);
            m[0] = n;
            m[1] = mean;
            m[2] = sum;
            const double square = sum + n * mean * mean;  // 0 only where x * x underflows
            const double step = square > 0 ? x * n / square : 0;
            *u++ = step;
            norm.square += step * x;
            norm.count += 1;
        });
        return norm;
    }
    template <class Row, class F>
    void each(const Row& row, F&& f) const {
        const double* u = direction_.data();
        row.each([&](Index j, double) { f(j, *u++); });
    }
    // Never falls, whatever rows come: a stale value is a lower bound.
    double spread(Index j, double n) const {
        const double* m = moments_ + 3 * j;
        return m[2] + m[1] * m[1] * m[0] * std::max(0.0, 1 - m[0] / n);
    }

  private:
    double* moments_;
    std::vector<double> direction_;
};

}  // namespace streamsieve
