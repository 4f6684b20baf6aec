#include "learners/plain_rows.hpp"

#include <numeric>

namespace streamsieve {

Index PlainRows::rows() const {
    return std::visit([](const auto& X) { return X.rows; }, X_);
}
Index PlainRows::values() const {
    return std::visit([](const auto& X) { return X.values(); }, X_);
}
Index PlainRows::longest() const {
    return std::visit([](const auto& X) { return X.longest(); }, X_);
}
Norm PlainRows::norm(Index i) const {
    return std::visit(
        [i](const auto& X) {
            Norm norm;
            square_norm(X[i].x, X[i].length, norm.square, norm.count);
            return norm;
        },
        X_);
}

PlainRows::Part PlainRows::part(Index from, Index to) {
    return std::visit([&](const auto& X) { return plain(X.slice(from, to)); }, X_);
}

ListedRows PlainRows::listed(const Dense<double>& X) {
    if (all_.empty()) {
        all_.resize(std::size_t(X.cols));
        std::iota(all_.begin(), all_.end(), 0);
    }
    return {X.rows, X, {}, all_.data()};
}

PlainRows::Part PlainRows::plain(const Dense<float>& X) {
    values_.resize(std::size_t(X.values()));
    for (Index i = 0; i < X.rows; ++i) widen(X[i].x, values_.data() + i * X.cols, X.cols);
    return Dense<double>{values_.data(), X.rows, X.cols, X.cols};
}

PlainRows::Part PlainRows::plain(const Csr<float, std::int32_t>& X) {
    const std::int32_t first = X.indptr[0];
    indptr_.clear();
    for (Index i = 0; i <= X.rows; ++i) indptr_.push_back(X.indptr[i] - first);
    values_.resize(std::size_t(X.values()));
    widen(X.data + first, values_.data(), X.values());
    return Csr<double, std::int32_t>{indptr_.data(), X.indices + first, values_.data(), X.rows};
}

}  // namespace streamsieve
