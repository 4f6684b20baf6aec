#include "learners/adafobos.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

AdaFobos rule(Penalties lam, double delta, State targets, State bias_h, State spent, Table v, Table h) {
    return {{delta, targets.data(), h.data(), bias_h.data()},
            lam.data(),
            spent.data(),
            v.data(),
            Index(v.shape(0)),
            Index(v.shape(1))};
}

}  // namespace

void bind_adafobos(nb::module_& m) {
    bind_ladder(m, "adafobos", rule, "lam"_a.noconvert(), "delta"_a, "targets"_a.noconvert(),
                "bias_h"_a.noconvert(), "spent"_a.noconvert(), "v"_a.noconvert(), "h"_a.noconvert());
}

}  // namespace streamsieve
