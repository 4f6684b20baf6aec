// Rows of any layout as dense or CSR rows of doubles: a kernel over these is compiled twice instead of four
// times. Floats are converted, some rows at a time.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "core/rows.hpp"
#include "core/steps.hpp"

namespace streamsieve {

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

  private:
    Part plain(const Dense<double>& X) { return X; }
    Part plain(const Dense<float>& X);
    Part plain(const Csr<double, std::int32_t>& X) { return X; }
    Part plain(const Csr<float, std::int32_t>& X);

    const RowsVariant& X_;
    std::vector<std::int32_t> indptr_;
    std::vector<double> values_;
};

}  // namespace streamsieve
