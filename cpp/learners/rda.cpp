#include "learners/rda.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

Rda rule(Penalties lam, Penalties l2, double rho, State last, Table sum) {
    return {lam.data(), l2.data(), rho, last.data(), sum.data(), Index(sum.shape(0))};
}

}  // namespace

void bind_rda(nb::module_& m) {
    bind_ladder(m, "rda", rule, "lam"_a.noconvert(), "l2"_a.noconvert(), "rho"_a, "last"_a.noconvert(),
                "sum"_a.noconvert());
}

}  // namespace streamsieve
