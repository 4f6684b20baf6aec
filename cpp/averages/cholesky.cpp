#include "averages/cholesky.hpp"

#include "core/bind.hpp"

namespace streamsieve {

using namespace nb::literals;

const Binding bindings([](nb::module_& m) {
    m.def(
        "chol_append",
        [](Matrix<const double> R, Vector<const std::int64_t> at, Index size, Vector<const double> c,
           double tol, Matrix<double> U) {
            return chol_append(R.data(), Index(R.shape(0)), at.data(), size, c.data(), Index(c.shape(0)), tol,
                               U.data(), Index(U.shape(1)));
        },
        "R"_a.noconvert(), "at"_a.noconvert(), "m"_a, "c"_a.noconvert(), "tol"_a, "U"_a.noconvert(), NoGil());
    m.def(
        "chol_remove",
        [](Vector<std::int64_t> at, Index size, Index k, Matrix<double> U) {
            chol_remove(at.data(), size, k, U.data(), Index(U.shape(1)));
        },
        "at"_a.noconvert(), "m"_a, "k"_a, "U"_a.noconvert(), NoGil());
    m.def(
        "chol_solve",
        [](Matrix<const double> U, Vector<double> x) {
            chol_solve(U.data(), Index(U.shape(1)), Index(x.shape(0)), x.data());
        },
        "U"_a.noconvert(), "x"_a.noconvert(), NoGil());
});

}  // namespace streamsieve
