// The units a step is taken in. Raw: those of the data. Moments: each feature divided by the root of its mean
// square where it is present, so that neither the step nor the ranking depends on units; or, with a clock, of
// its mean square over all rows. Then rare features take steps as much longer as they are rarer: until
// weights have converged, sigma_j |w_j| is proportional to the feature's correlation, with noise that is the
// same for all features, and neither rare nor frequent features are preferred.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
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
    double mean_square() const { return square() / n; }
};

// For who does not ask for units that change.
struct NoRenewal {
    void operator()(Index, double) const {}
};

// Takes the values of a row of weight r in, zeros aside. Of each entry, its `direction` x / (mean square of
// its feature). The mean is over rows of weight `total`, or, where that is 0, over the values of the feature.
// While a unit is settling, and where a value outweighs all before it, renew(j, old unit over new) is called;
// with 0 where squares underflow.
template <class Row, class F>
STREAMSIEVE_CLONES Norm add_values(const Row& row, double r, Values* values, double total, double* direction,
                                   F renew) {
    constexpr bool renews = !std::is_same_v<F, NoRenewal>;
    Norm norm;
    Index e = 0;
#if defined(STREAMSIEVE_FOUR)
    // Four entries at a time, in registers: a feature is four numbers, four of them a square.
    Four square_sum{}, count_sum{}, largest{};
    const Four none{}, weight = none + r, one = none + 1.0;
    for (; e + 4 <= row.length; e += 4) {
        Four n, first, sum, squares, x;
        const Index ahead = row.ahead(e);
        for (Index lane = 0; lane < 4; ++lane) prefetch(values + row.index(e + lane + ahead));
        Values* at[4] = {values + row.index(e), values + row.index(e + 1), values + row.index(e + 2),
                         values + row.index(e + 3)};
        load_four(n, at[0]), load_four(first, at[1]), load_four(sum, at[2]), load_four(squares, at[3]);
        load_four(x, row.x + e);
        transpose(n, first, sum, squares);
        const Four n_before = n, square_before = squares + first * (2 * sum + n * first);
        const auto there = x != none;
        const Four w = there ? weight : none;
        first = n == none ? x : first;
        const Four d = x - first, move = w * d;
        n += w;
        sum += move;
        squares += move * d;
        const Four square = squares + first * (2 * sum + n * first);
        const Four over = square >= none + least_square ? 1 / square : none;
        const Four count = total > 0 ? none + total : n;
        const Four u = x * count * over, part = u * x;
        store_four(u, direction + e);
        square_sum += part;
        count_sum += there ? one : none;
        largest = part > largest ? part : largest;
        transpose(n, first, sum, squares);
        store_four(n, at[0]), store_four(first, at[1]), store_four(sum, at[2]), store_four(squares, at[3]);
        if constexpr (renews) {
            const auto settling =
                there & ((n_before < none + settled) | (2 * (w * x * x) > square)) & (square_before > none);
            if (settling[0] | settling[1] | settling[2] | settling[3])
                for (Index lane = 0; lane < 4; ++lane)
                    if (settling[lane])
                        renew(row.index(e + lane), std::sqrt(square_before[lane] / n_before[lane] *
                                                             (n_before[lane] + r) * over[lane]));
        }
    }
    for (Index lane = 0; lane < 4; ++lane) {
        norm.square += square_sum[lane];
        norm.count += count_sum[lane];
        norm.largest = std::max(norm.largest, largest[lane]);
    }
#endif
    for (; e < row.length; ++e) {
        const Index j = row.index(e);
        const double x = row.value(e);
        direction[e] = 0;
        if (x == 0) continue;
        const Values old = values[j];
        Values now = old;
        now.add(x, r);
        values[j] = now;
        const double square = now.square(), over = square >= least_square ? 1 / square : 0;
        const double count = total > 0 ? total : now.n;
        direction[e] = x * count * over;
        const double part = direction[e] * x;
        norm.add(part);
        if constexpr (renews)
            if ((old.n < settled || 2 * (r * x * x) > square) && old.square() > 0)
                renew(j, std::sqrt(old.square() / old.n * now.n * over));
    }
    return norm;
}

// Units offer `pass(row, r)`: one walk over the row that takes its moments in and returns its norm; then,
// entry by entry, `direction(row, e)`, the step's direction u. A weight w of feature j ranks by w^2
// `mean_square(j)`, if the feature `varies` in rows of total weight n; a weight that is u by u x.
class Raw {
  public:
    template <class Row>
    Norm pass(const Row& row, double) {
        Norm norm;
        for (Index e = 0; e < row.length; ++e) {
            const double x = row.value(e);
            if (x != 0) norm.add(x * x);
        }
        return norm;
    }
    template <class Row>
    double direction(const Row& row, Index e) const {
        return row.value(e);
    }
    double mean_square(Index) const { return 1; }
    bool varies(Index, double) const { return true; }
};

// State: (p, 4), the Values of each feature.
class Moments {
  public:
    Moments(double* state, Index longest, const Clock* clock = nullptr)
        : clock_(clock), values_(reinterpret_cast<Values*>(state)), direction_(std::size_t(longest)) {}

    template <class Row, class F = NoRenewal>
    Norm pass(const Row& row, double r, F renew = {}) {
        const double total = clock_ ? clock_->weight + r : 0;
        return add_values(row, r, values_, total, direction_.data(), renew);
    }
    template <class Row>
    double direction(const Row&, Index e) const {
        return direction_[std::size_t(e)];
    }
    const double* directions() const { return direction_.data(); }
    double mean_square(Index j) const { return values_[j].mean_square(); }
    bool varies(Index j, double n) const { return values_[j].variance_share(n) > 0; }

  private:
    const Clock* clock_;  // as of the row before
    Values* values_;
    std::vector<double> direction_;  // of the entries of a row: x over the mean square of its feature
};

}  // namespace streamsieve
