// The units a step is taken in. Raw: those of the data. Moments: each feature divided by the root of its mean
// square where it is present, so that neither the step nor the ranking depends on units.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rows.hpp"
#include "core/steps.hpp"

namespace streamsieve {

constexpr double least_square = std::numeric_limits<double>::min();  // whose inverse does not overflow

constexpr double settled = 64;  // values after which a unit is within a tenth of what it will be

// Moments of the non-zero values of a feature: their weight, the first, and sum and sum of squares of the
// differences from it, which keeps the digits that plain sums of squares lose when a mean is large. The
// zeros, which nobody visits, are merged in when the variance is read. Four doubles of a NumPy array.
struct Values {
    double n, first, sum, squares;
    void add(double x, double r) {
        if (n == 0) first = x;
        const double d = x - first;
        n += r;
        sum += r * d;
        squares += r * d * d;
    }
    // Their sum of squares.
    double square() const { return squares + first * (2 * sum + n * first); }
    // The part of it that is variance, all rows of weight `total` counted. Written so that features seen
    // once, in the same row, have the same to the last bit: a tie is a tie.
    double variance_share(double total) const {
        const double whole = square(), off = sum / n, mean = first + off;
        if (!(whole > 0)) return 0;  // the squares underflow, or the rows weigh nothing
        return std::max(0.0, squares - off * sum) / whole +
               mean * (n * mean) / whole * std::max(0.0, 1 - n / total);
    }
    // `total` times the variance. It never falls, whatever rows come.
    double scatter(double total) const { return square() * variance_share(total); }
};

// Units offer `pass(row, r, f(e, j, x, renew))`: one walk over the row that takes its moments in, calls f for
// every entry e, and returns its norm; `renew` is the old unit of the feature over the new one, while these
// are still settling, and where a value outweighs all before it; then, entry by entry, `direction(row, e)`,
// the step's direction u. A weight w of feature j ranks, after rows of total weight n, by w^2 `scatter(j,
// n)`, n times the variance; a weight that is u by `rank(row, e, n)`, which is at most `reach(row, e)`.
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
    double scatter(Index, double) const { return 1; }
};

// State: (p, 4), the Values of each feature.
class Moments {
  public:
    Moments(double* state, Index longest)
        : values_(reinterpret_cast<Values*>(state)),
          direction_(std::size_t(longest)),
          reach_(std::size_t(longest)) {}

    template <class Row, class F>
    Norm pass(const Row& row, double r, F&& f) {
        for (Index e = 0; e < row.length; ++e) {
            const Index j = row.index(e);
            const double x = row.value(e);
            prefetch(values_ + row.soon(e));
            double &n = direction_[std::size_t(e)], &square = reach_[std::size_t(e)];
            if (x == 0) {
                f(e, j, x, 1.0);
                n = square = 0;
                continue;
            }
            const Values old = values_[j];  // copies, which the compiler can keep in registers
            Values feature = old;
            feature.add(x, r);
            values_[j] = feature;
            n = feature.n;
            square = feature.square();
            const bool settles = old.n < settled || 2 * (r * x * x) > square;
            const double before = settles && old.n > 0 ? old.square() / old.n : 0;
            f(e, j, x, before > 0 ? renewal(before, feature) : 1.0);
        }
        // the divisions of all values together
        Norm norm;
        unit_steps(row.x, direction_.data(), reach_.data(), row.length, least_square, norm.square, norm.count,
                   norm.largest);
        return norm;
    }
    template <class Row>
    double direction(const Row&, Index e) const {
        return direction_[std::size_t(e)];
    }
    const double* directions() const { return direction_.data(); }
    template <class Row>
    double reach(const Row&, Index e) const {
        return reach_[std::size_t(e)] * (1 + 1e-12);  // an upper bound in spite of rounding
    }
    // Ties as `variance_share` does.
    template <class Row>
    double rank(const Row& row, Index e, double n) const {
        const Values& feature = values_[row.index(e)];
        const double x = row.value(e);
        return x * (feature.n * x) / feature.square() * feature.n * feature.variance_share(n);
    }
    double scatter(Index j, double n) const { return values_[j].scatter(n); }

  private:
    // The old unit over the new one; 0 where the squares underflow.
    static double renewal(double before, const Values& feature) {
        const double square = feature.square();
        return square >= least_square ? std::sqrt(before * feature.n * (1 / square)) : 0;
    }

    Values* values_;
    // of the entries of a row: x over the mean square of its feature, and its square times the sum of
    // squares, of which the scatter is a part
    std::vector<double> direction_, reach_;
};

}  // namespace streamsieve
