// Rows as the kernels read them: dense or CSR, float or double. A row is visited by `each(f(j, x))`, or entry
// by entry with `index(e)` and `value(e)`, values always as double; zeros may be visited or not, so a kernel
// to which presence matters asks for x != 0 itself.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "core/simd.hpp"

namespace streamsieve {

template <class T>
struct DenseRow {
    const T* x;
    Index length;
    Index index(Index e) const { return e; }
    Index soon(Index e) const { return e; }  // the processor itself sees what comes
    double value(Index e) const { return double(x[e]); }
    template <class F>
    void each(F&& f) const {
        for (Index e = 0; e < length; ++e) f(e, double(x[e]));
    }
    DenseRow<double> with(const double* values) const { return {values, length}; }
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
    Index values() const { return rows * cols; }
};

template <class T, class I>
struct CsrRow {
    const I* j;
    const T* x;
    Index length;
    Index rest;  // entries from here to the end of the matrix
    Index index(Index e) const { return Index(j[e]); }
    // The feature that is visited 24 entries later, be it in a later row: what to prefetch.
    Index soon(Index e) const { return Index(j[e + 24 < rest ? e + 24 : e]); }
    double value(Index e) const { return double(x[e]); }
    template <class F>
    void each(F&& f) const {
        for (Index e = 0; e < length; ++e) f(Index(j[e]), double(x[e]));
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

// Rows of doubles or of floats as rows of doubles: a kernel over these is compiled once for both. Floats are
// converted row by row; a row is there until the next is asked for.
template <class Doubles, class Floats>
class Widened {
  public:
    const Index rows;

    explicit Widened(const Doubles& X) : rows(X.rows), doubles_(&X) {}
    explicit Widened(const Floats& X) : rows(X.rows), floats_(&X), values_(std::size_t(X.longest())) {}

    typename Doubles::Row operator[](Index i) const {
        if (doubles_) return (*doubles_)[i];
        const auto row = (*floats_)[i];
        widen(row.x, values_.data(), row.length);
        return row.with(values_.data());
    }
    Index longest() const { return doubles_ ? doubles_->longest() : Index(values_.size()); }

  private:
    const Doubles* doubles_ = nullptr;
    const Floats* floats_ = nullptr;
    mutable std::vector<double> values_;
};
using DenseDoubles = Widened<Dense<double>, Dense<float>>;
using CsrDoubles = Widened<Csr<double, std::int32_t>, Csr<float, std::int32_t>>;

template <class T>
DenseDoubles widened(const Dense<T>& X) {
    return DenseDoubles(X);
}
template <class T>
CsrDoubles widened(const Csr<T, std::int32_t>& X) {
    return CsrDoubles(X);
}

// A strided matrix as NumPy hands it over; strides count elements.
template <class T>
struct Strided {
    const T* data;
    Index rows, cols, row_stride, col_stride;
    T operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

}  // namespace streamsieve
