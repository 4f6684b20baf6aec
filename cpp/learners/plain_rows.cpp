#include "learners/plain_rows.hpp"

#include <type_traits>

namespace streamsieve {
namespace {

const double* converted(const double* x, Index, std::vector<double>&) {
    return x;
}
const double* converted(const float* x, Index n, std::vector<double>& to) {
    to.resize(std::size_t(n));
    widen(x, to.data(), n);
    return to.data();
}
const std::int32_t* converted(const std::int32_t* j, Index, std::vector<std::int32_t>&) {
    return j;
}
const std::int32_t* converted(const std::int64_t* j, Index n, std::vector<std::int32_t>& to) {
    to.assign(j, j + n);
    return to.data();
}

}  // namespace

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
    return std::visit([&](const auto& X) -> Part { return plain(X.slice(from, to)); }, X_);
}

template <class T>
Dense<double> PlainRows::plain(const Dense<T>& X) {
    if constexpr (std::is_same_v<T, double>) {
        return X;
    } else {
        value_.resize(std::size_t(X.values()));
        double* to = value_.data();
        for (Index i = 0; i < X.rows; ++i, to += X.cols) widen(X[i].x, to, X.cols);
        return {value_.data(), X.rows, X.cols, X.cols};
    }
}

template <class T, class I>
Csr<double, std::int32_t> PlainRows::plain(const Csr<T, I>& X) {
    const I first = X.indptr[0];
    start_.clear();
    for (Index i = 0; i <= X.rows; ++i) start_.push_back(std::int32_t(X.indptr[i] - first));
    return {start_.data(), converted(X.indices + first, X.values(), index_),
            converted(X.data + first, X.values(), value_), X.rows};
}

}  // namespace streamsieve
