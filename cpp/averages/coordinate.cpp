#include "averages/coordinate.hpp"

#include "core/bind.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;
using Positions = Vector<const std::int64_t>;
using Bounds = Vector<const double>;

// Bounds that are empty are none.
template <class Penalty>
std::pair<Index, double> descend_on(Matrix<const double> R, Positions at, Penalty penalty, Bounds lower,
                                    Bounds upper, Index max_sweeps, double tol, Vector<double> g,
                                    Vector<double> b) {
    const auto run = [&](auto rule) {
        return descend(R.data(), Index(R.shape(0)), at.data(), Index(at.shape(0)), rule, max_sweeps, tol,
                       g.data(), b.data());
    };
    if (lower.shape(0) == 0) return run(penalty);
    return run(Boxed<Penalty>{penalty, lower.data(), upper.data()});
}

template <class Penalty>
std::pair<Index, double> descend_groups_on(Matrix<const double> R, Positions first, Positions member,
                                           Penalty penalty, Index max_sweeps, double tol, Vector<double> g,
                                           Vector<double> b) {
    return descend_groups(R.data(), Index(R.shape(0)), first.data(), member.data(), Index(first.shape(0)) - 1,
                          penalty, max_sweeps, tol, g.data(), b.data());
}

template <class Penalty>
void bind_folded_concave(nb::module_& m, const char* name, const char* groups) {
    m.def(
        name,
        [](Matrix<const double> R, Positions at, Vector<const double> lam, double gamma, Bounds lower,
           Bounds upper, Index max_sweeps, double tol, Vector<double> g, Vector<double> b) {
            return descend_on(R, at, Penalty{lam.data(), gamma}, lower, upper, max_sweeps, tol, g, b);
        },
        "R"_a.noconvert(), "at"_a.noconvert(), "lam"_a.noconvert(), "gamma"_a, "lower"_a.noconvert(),
        "upper"_a.noconvert(), "max_sweeps"_a, "tol"_a, "g"_a.noconvert(), "b"_a.noconvert(), NoGil());
    m.def(
        groups,
        [](Matrix<const double> R, Positions first, Positions member, Vector<const double> lam, double gamma,
           Index max_sweeps, double tol, Vector<double> g, Vector<double> b) {
            return descend_groups_on(R, first, member, Penalty{lam.data(), gamma}, max_sweeps, tol, g, b);
        },
        "R"_a.noconvert(), "first"_a.noconvert(), "member"_a.noconvert(), "lam"_a.noconvert(), "gamma"_a,
        "max_sweeps"_a, "tol"_a, "g"_a.noconvert(), "b"_a.noconvert(), NoGil());
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    m.def(
        "descend_l1l2",
        [](Matrix<const double> R, Positions at, Vector<const double> l1, Vector<const double> l2,
           Bounds lower, Bounds upper, Index max_sweeps, double tol, Vector<double> g, Vector<double> b) {
            return descend_on(R, at, L1L2{l1.data(), l2.data()}, lower, upper, max_sweeps, tol, g, b);
        },
        "R"_a.noconvert(), "at"_a.noconvert(), "l1"_a.noconvert(), "l2"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "max_sweeps"_a, "tol"_a, "g"_a.noconvert(), "b"_a.noconvert(), NoGil());
    m.def(
        "descend_groups_l1l2",
        [](Matrix<const double> R, Positions first, Positions member, Vector<const double> l1,
           Vector<const double> l2, Index max_sweeps, double tol, Vector<double> g, Vector<double> b) {
            return descend_groups_on(R, first, member, L1L2{l1.data(), l2.data()}, max_sweeps, tol, g, b);
        },
        "R"_a.noconvert(), "first"_a.noconvert(), "member"_a.noconvert(), "l1"_a.noconvert(),
        "l2"_a.noconvert(), "max_sweeps"_a, "tol"_a, "g"_a.noconvert(), "b"_a.noconvert(), NoGil());
    bind_folded_concave<Mcp>(m, "descend_mcp", "descend_groups_mcp");
    bind_folded_concave<Scad>(m, "descend_scad", "descend_groups_scad");
    m.def(
        "residual",
        [](Matrix<const double> R, Vector<const double> r, Positions at, Vector<const double> w,
           Vector<double> g) {
            residual(R.data(), Index(R.shape(0)), r.data(), at.data(), w.data(), Index(at.shape(0)),
                     g.data());
        },
        "R"_a.noconvert(), "r"_a.noconvert(), "at"_a.noconvert(), "w"_a.noconvert(), "g"_a.noconvert(),
        NoGil());
});

}  // namespace streamsieve
