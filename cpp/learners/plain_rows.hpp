// Rows of any layout as dense or CSR rows of doubles: a kernel over these is compiled twice instead of four
// times. Floats are converted, some rows at a time.
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
    explicit PlainRows(const RowsVariant& X) : X_(X) {}

    Index rows() const;
    Index values() const;
    Index longest() const;
    Norm norm(Index i) const;

    // Some rows, until the next call.
    using Part = std::variant<Dense<double>, Csr<double, std::int32_t>>;
    Part part(Index from, Index to);
    // The same as rows with a list of their features, be it that of all.
    ListedRows listed(const Dense<double>& X);
    ListedRows listed(const Csr<double, std::int32_t>& X) { return {X.rows, {}, X, nullptr}; }

  private:
    Part plain(const Dense<double>& X) { return X; }
    Part plain(const Dense<float>& X);
    Part plain(const Csr<double, std::int32_t>& X) { return X; }
    Part plain(const Csr<float, std::int32_t>& X);

    const RowsVariant& X_;
    std::vector<std::int32_t> indptr_;
    std::vector<double> values_;
    std::vector<std::int32_t> all_;
};

}  // namespace streamsieve
