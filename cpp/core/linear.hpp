// The two loops every linear learner runs over a row, with weights feature-major (p, q): the q outputs of a
// feature are neighbours. q is an Index, or One where there is a single output and the inner loop must
// vanish.
#pragma once
#include <type_traits>

#include "core/rows.hpp"
#include "core/units.hpp"

namespace streamsieve {

using One = std::integral_constant<Index, 1>;

// m = W'x
template <class Row, class Q>
inline void products(const Row& row, Q q, const double* w, double* m) {
    for (Index o = 0; o < q; ++o) m[o] = 0;
    for (Index e = 0; e < row.length; ++e) {
        const double x = row.value(e), *at = w + row.index(e) * q;
        for (Index o = 0; o < q; ++o) m[o] += x * at[o];
    }
}
template <class T, class I>
inline void products(const CsrRow<T, I>& row, One, const double* w, double* m) {
    *m = row.times(w);
}
inline void products(const DenseRow<double>& row, One, const double* w, double* m) {
    *m = dot(row.x, w, row.length);
}

// The same, and the norm that the units make of the row. The fast ones for one output in the units of the
// data do not look for its largest value, which SGD does not ask for.
template <class Row, class Q>
inline Norm margins(const Row& row, double r, Q q, Raw& units, const double* w, double* m) {
    products(row, q, w, m);
    return units.pass(row, r);
}

// The same for weights that are learned in units which are still settling. A weight belongs to the unit it
// was learned in: else a feature whose first value happens to be tiny would keep a huge weight for good.
template <class Row, class Q>
inline Norm margins(const Row& row, double r, Q q, Moments& units, double* w, double* m) {
    const Norm norm = units.pass(row, r, [=](Index j, double renew) {
        for (Index o = 0; o < q; ++o) w[j * q + o] *= renew;
    });
    products(row, q, w, m);
    return norm;
}

inline Norm margins(const DenseRow<double>& row, double, One, Raw&, const double* w, double* m) {
    Norm norm;
    dot_norm(row.x, nullptr, nullptr, w, row.length, *m, norm.square, norm.count);
    return norm;
}
inline Norm margins(const DenseRow<float>& row, double, One, Raw&, const double* w, double* m) {
    Norm norm;
    dot_norm(row.x, w, row.length, *m, norm.square, norm.count);
    return norm;
}

template <class T, class I>
inline Norm margins(const CsrRow<T, I>& row, double, One, Raw&, const double* w, double* m) {
    *m = row.times(w);
    Norm norm;
    square_norm(row.x, row.length, norm.square, norm.count);
    return norm;
}

// Reads row i, and the same of it.
template <class Rows, class Q, class Units, class W>
inline auto read_margins(const Rows& X, Index i, double r, Q q, Units& units, W* w, double* m, Norm& norm) {
    const auto row = X[i];
    norm = margins(row, r, q, units, w, m);
    return row;
}
inline auto read_margins(const DenseDoubles& X, Index i, double, One, Raw&, double* w, double* m,
                         Norm& norm) {
    const auto row = X.unmapped(i);
    dot_norm(row.x, row.map->center, row.map->inverse, w, row.length, *m, norm.square, norm.count);
    return row;
}
template <class W>
inline auto read_margins(const CsrDoubles& X, Index i, double, One, Raw&, W* w, double* m, Norm& norm) {
    const auto row = X.times(i, w, *m);
    square_norm(row.x, row.length, norm.square, norm.count);
    return row;
}

// w += u c', u the direction of the row
template <class Row, class Q, class Units, class W>
inline void move(const Row& row, Q q, const Units& units, const double* c, W* w) {
    for (Index e = 0; e < row.length; ++e) {
        const double u = units.direction(row, e);
        double* at = w + row.index(e) * q;
        for (Index o = 0; o < q; ++o) at[o] += u * c[o];
    }
}

inline double& weight_of(double& w) {
    return w;
}
template <class Pair>
inline double& weight_of(Pair& w) {
    return w.weight;
}

template <class T, class I, class W>
inline void move(const CsrRow<T, I>& row, One, const Raw&, const double* c, W* w) {
    // four at once: no feature comes twice in a row, which the compiler cannot know
    Index e = 0;
    for (; e + 4 <= row.length; e += 4) {
        double to[4];
        for (Index lane = 0; lane < 4; ++lane)
            to[lane] = weight_of(w[row.j[e + lane]]) + row.value(e + lane) * *c;
        for (Index lane = 0; lane < 4; ++lane) weight_of(w[row.j[e + lane]]) = to[lane];
    }
    for (; e < row.length; ++e) weight_of(w[row.j[e]]) += row.value(e) * *c;
}

// kernel(w), w being weights, or these in pairs while it runs, where that pays.
template <class Rows, class Q, class Units, class F>
inline Index with_pairs(const Rows& X, Q, const Units&, double* w, Index p, F&& kernel) {
    if constexpr (std::is_same_v<Rows, CsrDoubles> && std::is_same_v<Q, One> && std::is_same_v<Units, Raw>) {
        const auto in_pairs = [&](auto&& pair) {
            std::vector<decltype(pair(Index{}))> pairs(static_cast<std::size_t>(p));
            for (Index j = 0; j < p; ++j) pairs[std::size_t(j)] = pair(j);
            const Index learned = kernel(pairs.data());
            for (Index j = 0; j < p; ++j) w[j] = pairs[std::size_t(j)].weight;
            return learned;
        };
        if (X.pairs_pay(p) && X.centred())
            return in_pairs([&](Index j) { return PairedWithCenter{X.inverse(j), w[j], X.center(j)}; });
        if (X.pairs_pay(p)) return in_pairs([&](Index j) { return Paired{X.inverse(j), w[j]}; });
    }
    return kernel(w);
}

template <class T, class I>
inline void move(const CsrRow<T, I>& row, One q, const Moments& units, const double* c, double* w) {
    move(row.with(units.directions()), q, Raw{}, c, w);
}

inline void move(const MappedDenseRow<double>& row, One, const Raw&, const double* c, double* w) {
    axpy(*c, row.x, row.map->center, row.map->inverse, w, row.length);
}

}  // namespace streamsieve
