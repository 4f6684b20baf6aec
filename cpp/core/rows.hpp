// Rows as the kernels read them: dense or CSR, float or double. A row is visited by `each(f(j, x))`, or entry
// by entry with `index(e)` and `value(e)`, values always as double; zeros may be visited or not, so a kernel
// to which presence matters asks for x != 0 itself.
#pragma once
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/simd.hpp"

namespace streamsieve {

template <class T>
struct DenseRow {
    const T* x;
    Index length;
    Index index(Index e) const { return e; }
    Index ahead(Index) const { return 0; }  // the processor itself sees what comes
    double value(Index e) const { return double(x[e]); }
    template <class F>
    void each(F&& f) const {
        for (Index e = 0; e < length; ++e) f(e, double(x[e]));
    }
};

// C order: columns are contiguous, rows `stride` elements apart.
template <class T>
struct Dense {
    using Row = DenseRow<T>;
    const T* data = nullptr;
    Index rows = 0, cols = 0, stride = 0;
    Row operator[](Index i) const { return {data + i * stride, cols}; }
    Dense slice(Index from, Index to) const { return {data + from * stride, to - from, cols, stride}; }
    Index longest() const { return cols; }
    Index room(Index) const { return cols; }  // entries of a row, at most
    Index values() const { return rows * cols; }
};

// f(0) + ... + f(n - 1) as four sums, or the latency of one addition after the other is the time of the loop
template <class F>
inline double sum_of(Index n, F&& f) {
    double a[4] = {0, 0, 0, 0};
    Index e = 0;
    for (; e + 4 <= n; e += 4)
        for (Index lane = 0; lane < 4; ++lane) a[lane] += f(e + lane);
    for (; e < n; ++e) a[0] += f(e);
    return (a[0] + a[1]) + (a[2] + a[3]);
}

template <class T, class I>
struct CsrRow {
    const I* j;
    const T* x;
    Index length;
    Index rest;  // entries from here to the end of the matrix
    Index index(Index e) const { return Index(j[e]); }
    // How far ahead of entry e to prefetch, and of the three after it: 24 entries, be it in a later row.
    Index ahead(Index e) const { return e + 28 <= rest ? 24 : 0; }
    double value(Index e) const { return double(x[e]); }
    template <class F>
    void each(F&& f) const {
        for (Index e = 0; e < length; ++e) f(Index(j[e]), double(x[e]));
    }
    // Its product with weights.
    double times(const double* w) const {
        return sum_of(length, [&](Index e) { return double(x[e]) * w[j[e]]; });
    }
    CsrRow<double, I> with(const double* values) const { return {j, values, length, rest}; }
};

template <class T, class I>
struct Csr {
    using Row = CsrRow<T, I>;
    const I* indptr = nullptr;
    const I* indices = nullptr;
    const T* data = nullptr;
    Index rows = 0;
    Row operator[](Index i) const {
        return {indices + indptr[i], data + indptr[i], Index(indptr[i + 1] - indptr[i]),
                Index(indptr[rows] - indptr[i])};
    }
    Csr slice(Index from, Index to) const { return {indptr + from, indices, data, to - from}; }
    Index room(Index i) const { return Index(indptr[i + 1] - indptr[i]); }
    Index values() const { return Index(indptr[rows] - indptr[0]); }
    // Entries of the longest row: what a kernel's scratch must hold.
    Index longest() const {
        Index most = 0;
        for (Index i = 0; i < rows; ++i) {
            const Index length = Index(indptr[i + 1] - indptr[i]);
            if (length > most) most = length;
        }
        return most;
    }
};

// What kernels are compiled for. rows.py narrows the indices of all CSR rows to 32 bits.
using RowsVariant =
    std::variant<Dense<float>, Dense<double>, Csr<float, std::int32_t>, Csr<double, std::int32_t>>;

// A weight beside the inverse unit of its column: an entry of a sparse row then fetches one line of memory,
// not two.
struct Paired {
    double inverse, weight;
    double map(double x) const { return x * inverse; }
    bool centred() const { return false; }
};
// The same with the centre of the column: half a line.
struct alignas(32) PairedWithCenter {
    double inverse, weight, center;
    double map(double x) const { return (x - center) * inverse; }
    bool centred() const { return center != 0; }
};

// An affine map of the columns, x -> (x - center) * unit, which kernels apply as they read a row. `centred`
// lists the columns with a centre other than 0, ascending: they are not zero where a row has no entry.
struct ColumnMap {
    const double* center = nullptr;   // null: no column has one
    const double* inverse = nullptr;  // 1 / unit; null: all units are 1
    const std::int32_t* centred = nullptr;
    Index n_centred = 0;
    static constexpr Index ahead = 256;  // entries that are fetched early: a row or two

    explicit operator bool() const { return center || inverse; }
    double operator()(Index j, double x) const {
        if (center) x -= center[j];
        return inverse ? x * inverse[j] : x;
    }
    // The entries of a sparse row, mapped, in `to`; how many have a centre. Rows are first read here: the
    // next ones are asked for beforehand.
    template <class T>
    Index entries(const CsrRow<T, std::int32_t>& row, double* __restrict to) const {
        const T* __restrict x = row.x;
        const std::int32_t* __restrict j = row.j;
        const double* __restrict c = center;
        const double* __restrict u = inverse;
        const Index n = row.length;
        Index there = 0;
        const auto walk = [=](auto&& read) {
            Index e = 0;
            for (; e + 8 <= n; e += 8) {
                prefetch_read(x + e + ahead);
                prefetch_read(j + e + ahead);
                for (Index lane = e; lane < e + 8; ++lane) to[lane] = read(double(x[lane]), j[lane]);
            }
            for (; e < n; ++e) to[e] = read(double(x[e]), j[e]);
        };
        const auto centre = [=, &there](double value, std::int32_t column) {
            there += c[column] != 0;
            return value - c[column];
        };
        if (!c)
            walk([=](double value, std::int32_t column) { return value * u[column]; });
        else if (u)
            walk([=](double value, std::int32_t column) { return centre(value, column) * u[column]; });
        else
            walk(centre);
        return there;
    }
    // The entries mapped, in `to`, and their product with weights, which come in pairs, in one walk; `there`
    // of them have a centre.
    template <class T, class F>
    static double times_pairs(const CsrRow<T, std::int32_t>& row, F&& pair, double* __restrict to,
                              Index& there) {
        const T* __restrict x = row.x;
        const std::int32_t* __restrict j = row.j;
        Index n = 0;
        const double sum = sum_of(row.length, [=, &n](Index e) {
            if (e % 8 == 0) {
                prefetch_read(x + e + ahead);
                prefetch_read(j + e + ahead);
            }
            const auto at = pair(j[e]);
            n += at.centred();
            to[e] = at.map(double(x[e]));
            return to[e] * at.weight;
        });
        there = n;
        return sum;
    }
    // The entries with the centred columns that the row lacks, mapped; how many. O(entries + centred
    // columns).
    template <class T>
    Index merged(const CsrRow<T, std::int32_t>& row, std::int32_t* j, double* to) const {
        Index n = 0, e = 0;
        auto add = [&](std::int32_t feature, double x) {
            j[n] = feature;
            to[n++] = (*this)(feature, x);
        };
        for (Index f = 0; f < n_centred; ++f) {
            for (; e < row.length && row.j[e] < centred[f]; ++e) add(row.j[e], double(row.x[e]));
            const bool there = e < row.length && row.j[e] == centred[f];
            add(centred[f], there ? double(row.x[e++]) : 0.0);
        }
        for (; e < row.length; ++e) add(row.j[e], double(row.x[e]));
        return n;
    }
};

// A row that is mapped as it is read.
template <class T>
struct MappedDenseRow {
    const T* x;
    Index length;
    const ColumnMap* map;
    Index index(Index e) const { return e; }
    Index ahead(Index) const { return 0; }
    double value(Index e) const { return (*map)(e, double(x[e])); }
};

// A row as doubles, mapped: its values go to `to`.
template <class T>
DenseRow<double> read_row(const DenseRow<T>& row, const ColumnMap& map, double* to) {
    const double* from = to;
    if constexpr (std::is_same_v<T, float>)
        widen(row.x, to, row.length);
    else
        from = row.x;
    if (map) map_row(from, map.center, map.inverse, to, row.length);
    return {to, row.length};
}
// The same; its features go to `j` if it lacks columns that are centred. Most rows have all of these.
template <class T>
CsrRow<double, std::int32_t> read_row(const CsrRow<T, std::int32_t>& row, const ColumnMap& map,
                                      std::int32_t* j, double* to) {
    if constexpr (std::is_same_v<T, float>) {
        if (!map) {
            widen(row.x, to, row.length);
            return row.with(to);
        }
    }
    if (row.length >= map.n_centred && map.entries(row, to) == map.n_centred) return row.with(to);
    const Index n = map.merged(row, j, to);
    return {j, to, n, n};
}

// Rows of doubles or of floats, mapped or not, as rows of doubles: a kernel over these is compiled once for
// all. Floats are converted and maps applied row by row; a row is there until the next is asked for.
class DenseDoubles {
  public:
    const Index rows;

    DenseDoubles(const Dense<double>& X, const ColumnMap& map) : rows(X.rows), doubles_(X), map_(map) {
        if (map) values_.resize(std::size_t(X.cols));
    }
    DenseDoubles(const Dense<float>& X, const ColumnMap& map)
        : rows(X.rows), floats_(X), map_(map), values_(std::size_t(X.cols)) {}

    DenseRow<double> operator[](Index i) const {
        if (!doubles_.data) return read_row(floats_[i], map_, values_.data());
        return map_ ? read_row(doubles_[i], map_, values_.data()) : doubles_[i];
    }
    // Row i, to be mapped by who reads it.
    MappedDenseRow<double> unmapped(Index i) const {
        if (doubles_.data) return {doubles_[i].x, doubles_.cols, &map_};
        return {read_row(floats_[i], {}, values_.data()).x, floats_.cols, &map_};
    }
    Index longest() const { return doubles_.data ? doubles_.cols : floats_.cols; }

  private:
    Dense<double> doubles_;
    Dense<float> floats_;
    ColumnMap map_;
    mutable std::vector<double> values_;
};

class CsrDoubles {
  public:
    using I = std::int32_t;
    const Index rows;

    CsrDoubles(const Csr<double, I>& X, const ColumnMap& map)
        : rows(X.rows), doubles_(X), map_(map), longest_(X.longest() + map.n_centred) {
        if (map) make_room();
    }
    CsrDoubles(const Csr<float, I>& X, const ColumnMap& map)
        : rows(X.rows), floats_(X), map_(map), longest_(X.longest() + map.n_centred) {
        make_room();
    }

    CsrRow<double, I> operator[](Index i) const {
        if (!doubles_.indptr) return read_row(floats_[i], map_, indices_.data(), values_.data());
        return map_ ? read_row(doubles_[i], map_, indices_.data(), values_.data()) : doubles_[i];
    }
    // Row i, and its product with weights; with pairs, if these pay.
    CsrRow<double, I> times(Index i, const double* w, double& product) const {
        if (map_ && !map_.center)
            return mapped(i, [u = map_.inverse, w](Index j) { return Paired{u[j], w[j]}; }, product);
        const auto row = (*this)[i];
        product = row.times(w);
        return row;
    }
    template <class Pair>
    CsrRow<double, I> times(Index i, const Pair* w, double& product) const {
        return mapped(i, [w](Index j) { return w[j]; }, product);
    }
    // Whether the pairs of p columns, made and taken apart once, are read often enough; 4 MB at most.
    bool pairs_pay(Index p) const {
        const Index entries = doubles_.indptr ? doubles_.values() : floats_.values();
        return map_.inverse && entries >= 8 * p && p <= (centred() ? 1 << 17 : 1 << 18);
    }
    bool centred() const { return map_.center != nullptr; }
    double inverse(Index j) const { return map_.inverse[j]; }
    double center(Index j) const { return map_.center[j]; }
    Index longest() const { return longest_; }
    Index room(Index i) const {
        return (doubles_.indptr ? doubles_.room(i) : floats_.room(i)) + map_.n_centred;
    }

  private:
    template <class F>
    CsrRow<double, I> mapped(Index i, F&& pair, double& product) const {
        const auto one = [&](const auto& row) -> CsrRow<double, I> {
            Index there = 0;
            product = ColumnMap::times_pairs(row, pair, values_.data(), there);
            if (there == map_.n_centred) return row.with(values_.data());
            const Index n = map_.merged(row, indices_.data(), values_.data());
            product = sum_of(
                n, [&](Index e) { return values_[std::size_t(e)] * pair(indices_[std::size_t(e)]).weight; });
            return {indices_.data(), values_.data(), n, n};
        };
        return doubles_.indptr ? one(doubles_[i]) : one(floats_[i]);
    }
    void make_room() {
        values_.resize(std::size_t(longest_));
        if (map_.n_centred) indices_.resize(std::size_t(longest_));
    }

    Csr<double, I> doubles_;
    Csr<float, I> floats_;
    ColumnMap map_;
    Index longest_;
    mutable std::vector<double> values_;
    mutable std::vector<I> indices_;
};

template <class T>
DenseDoubles as_doubles(const Dense<T>& X, const ColumnMap& map) {
    return {X, map};
}
template <class T>
CsrDoubles as_doubles(const Csr<T, std::int32_t>& X, const ColumnMap& map) {
    return {X, map};
}

// Dense rows of which a kernel reads few columns: only these are mapped.
template <class T>
struct MappedDense {
    Dense<T> all;
    ColumnMap map;
    Index rows = all.rows;
    MappedDenseRow<T> operator[](Index i) const { return {all[i].x, all.cols, &map}; }
    Index longest() const { return all.cols; }
    Index room(Index) const { return all.cols; }
};

// The same for kernels that look at the layout themselves.
using LazyRows = std::variant<Dense<float>, Dense<double>, Csr<float, std::int32_t>,
                              Csr<double, std::int32_t>, MappedDense<float>, MappedDense<double>, CsrDoubles>;
inline LazyRows read_lazily(const RowsVariant& X, const ColumnMap& map) {
    return std::visit(
        [&](const auto& all) -> LazyRows {
            if (!map) return all;
            if constexpr (requires { all.indptr; })
                return CsrDoubles(all, map);
            else
                return MappedDense{all, map};
        },
        X);
}

// A strided matrix as NumPy hands it over; strides count elements.
template <class T>
struct Strided {
    const T* data;
    Index rows, cols, row_stride, col_stride;
    T operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

}  // namespace streamsieve
