#include "averages/coordinate.hpp"

#include "core/bind.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;
using Positions = Vector<const std::int64_t>;

template <class Penalty>
std::pair<Index, double> descend_on(Matrix<const double> R, Positions at, Penalty penalty, Index max_sweeps,
                                    double tol, Vector<double> g, Vector<double> b) {
    return descend(R.data(), Index(R.shape(0)), at.data(), Index(at.shape(0)), penalty, max_sweeps, tol,
                   g.data(), b.data());
}

template <class Penalty>
void bind_folded_concave(nb::module_& m, const char* name) {
    m.def(
        name,
        [](Matrix<const double> R, Positions at, double lam, double gamma, Index max_sweeps, double tol,
           Vector<double> g,
           Vector<double> b) { return descend_on(R, at, Penalty{lam, gamma}, max_sweeps, tol, g, b); },
        "R"_a.noconvert(), "at"_a.noconvert(), "lam"_a, "gamma"_a, "max_sweeps"_a, "tol"_a, "g"_a.noconvert(),
        "b"_a.noconvert(), NoGil());
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    m.def(
        "descend_l1l2",
        [](Matrix<const double> R, Positions at, Vector<const double> l1, double l2, Index max_sweeps,
           double tol, Vector<double> g,
           Vector<double> b) { return descend_on(R, at, L1L2{l1.data(), l2}, max_sweeps, tol, g, b); },
        "R"_a.noconvert(), "at"_a.noconvert(), "l1"_a.noconvert(), "l2"_a, "max_sweeps"_a, "tol"_a,
        "g"_a.noconvert(), "b"_a.noconvert(), NoGil());
    bind_folded_concave<Mcp>(m, "descend_mcp");
    bind_folded_concave<Scad>(m, "descend_scad");
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
