#include "learners/plain_rows.hpp"

#include <algorithm>
#include <numeric>

namespace streamsieve {

Index PlainRows::rows() const {
    return std::visit([](const auto& X) { return X.rows; }, X_);
}
Index PlainRows::values() const {
    const bool dense = X_.index() < 2;
    return std::visit([](const auto& X) { return X.values(); }, X_) + (dense ? 0 : rows() * map_.n_centred);
}
Index PlainRows::longest() const {
    const bool dense = X_.index() < 2;
    return std::visit([](const auto& X) { return X.longest(); }, X_) + (dense ? 0 : map_.n_centred);
}

ListedRows PlainRows::listed(const Dense<double>& X) {
    if (all_.empty()) {
        all_.resize(std::size_t(X.cols));
        std::iota(all_.begin(), all_.end(), 0);
    }
    return {X.rows, X, {}, all_.data()};
}

template <class T>
PlainRows::Part PlainRows::plain(const Dense<T>& X) {
    if constexpr (std::is_same_v<T, double>)
        if (!map_) return X;
    values_.resize(std::size_t(X.values()));
    for (Index i = 0; i < X.rows; ++i) read_row(X[i], map_, values_.data() + i * X.cols);
    return Dense<double>{values_.data(), X.rows, X.cols, X.cols};
}

template <class T>
PlainRows::Part PlainRows::plain(const Csr<T, std::int32_t>& X) {
    if constexpr (std::is_same_v<T, double>)
        if (!map_) return X;
    const auto most = std::size_t(X.values() + X.rows * map_.n_centred);
    values_.resize(most);
    if (map_.n_centred) indices_.resize(most);
    indptr_.assign(1, 0);
    std::int32_t* j = indices_.data();
    double* to = values_.data();
    for (Index i = 0; i < X.rows; ++i) {
        const auto row = read_row(X[i], map_, j, to);
        if (map_.n_centred && row.j != j) std::copy_n(row.j, row.length, j);
        if (map_.n_centred) j += row.length;
        to += row.length;
        indptr_.push_back(std::int32_t(to - values_.data()));
    }
    const std::int32_t* indices = map_.n_centred ? indices_.data() : X.indices + X.indptr[0];
    return Csr<double, std::int32_t>{indptr_.data(), indices, values_.data(), X.rows};
}

PlainRows::Part PlainRows::part(Index from, Index to) {
    return std::visit([&](const auto& X) { return plain(X.slice(from, to)); }, X_);
}

}  // namespace streamsieve
