// Rows of any layout, mapped or not, as dense or CSR rows of doubles: a kernel over these is compiled twice.
// Floats are converted and maps applied some rows at a time.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "core/rows.hpp"
#include "core/steps.hpp"

namespace streamsieve {

// Dense or CSR rows, each with a list of its features: where these are not the bulk of the work, a kernel is
// compiled once for both.
struct ListedRows {
    Index rows;
    Dense<double> dense;
    Csr<double, std::int32_t> csr;
    const std::int32_t* all;  // 0, 1, ... for dense rows
    CsrRow<double, std::int32_t> operator[](Index i) const {
        if (all) return {all, dense[i].x, dense.cols, dense.cols};
        return csr[i];
    }
};

class PlainRows {
  public:
    PlainRows(const RowsVariant& X, const ColumnMap& map) : X_(X), map_(map) {}

    Index rows() const;
    Index values() const;   // at most
    Index longest() const;  // row, at most

    // Some rows, until the next call.
    using Part = std::variant<Dense<double>, Csr<double, std::int32_t>>;
    Part part(Index from, Index to);
    // The same as rows with a list of their features, be it that of all.
    ListedRows listed(const Dense<double>& X);
    ListedRows listed(const Csr<double, std::int32_t>& X) { return {X.rows, {}, X, nullptr}; }

  private:
    template <class T>
    Part plain(const Dense<T>& X);
    template <class T>
    Part plain(const Csr<T, std::int32_t>& X);

    const RowsVariant& X_;
    const ColumnMap& map_;
    std::vector<std::int32_t> indptr_, indices_;
    std::vector<double> values_;
    std::vector<std::int32_t> all_;
};

// Squared norm and number of non-zeros of a row.
template <class Row>
Norm norm_of(const Row& row) {
    Norm norm;
    square_norm(row.x, row.length, norm.square, norm.count);
    return norm;
}

}  // namespace streamsieve
