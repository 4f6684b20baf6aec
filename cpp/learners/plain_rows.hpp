// Rows of any layout as one of two, dense or CSR of doubles with indices of 32 bits: a kernel over these is
// compiled twice instead of six times. What has another type is converted, some rows at a time.
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
    template <class T>
    Dense<double> plain(const Dense<T>& X);
    template <class T, class I>
    Csr<double, std::int32_t> plain(const Csr<T, I>& X);

    const RowsVariant& X_;
    std::vector<std::int32_t> start_, index_;
    std::vector<double> value_;
};

}  // namespace streamsieve
