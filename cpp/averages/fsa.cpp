#include "averages/fsa.hpp"

#include "core/bind.hpp"

namespace streamsieve {

using namespace nb::literals;

const Binding bindings([](nb::module_& m) {
    m.def(
        "largest_eigenvalue",
        [](Matrix<const double> R, Vector<const std::int64_t> active, Index rounds) {
            return largest_eigenvalue(R.data(), Index(R.shape(1)), active.data(), Index(active.shape(0)),
                                      rounds);
        },
        "R"_a, "active"_a, "rounds"_a, NoGil());
    m.def(
        "ofsa",
        [](Matrix<const double> R, Matrix<const double> r, Vector<const std::int64_t> keep, double eta,
           double relaxation, Vector<const double> factor, Matrix<const double> lower,
           Matrix<const double> upper, Vector<const std::int64_t> group, Vector<std::int64_t> active,
           Matrix<double> beta, Vector<double> used) {
            const auto given = [](const auto& a) { return a.shape(0) ? a.data() : nullptr; };
            return ofsa(R.data(), Index(R.shape(1)), r.data(), Index(r.shape(0)), keep.data(),
                        Index(keep.shape(0)), eta, relaxation,
                        {given(factor), given(lower), given(upper), given(group)}, active.data(),
                        Index(active.shape(0)), beta.data(), used.data());
        },
        "R"_a, "r"_a, "keep"_a, "eta"_a, "relaxation"_a, "factor"_a, "lower"_a, "upper"_a, "group"_a,
        "active"_a.noconvert(), "beta"_a.noconvert(), "used"_a.noconvert(), NoGil());
});

}  // namespace streamsieve
