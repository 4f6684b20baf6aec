#include "learners/fobos.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

Fobos rule(Penalties lam, Penalties l2, State spent, State scale, Table v) {
    return {lam.data(), l2.data(),         spent.data(),     scale.data(),
            v.data(),   Index(v.shape(0)), Index(v.shape(1))};
}

}  // namespace

void bind_fobos(nb::module_& m) {
    bind_ladder(m, "fobos", rule, "lam"_a.noconvert(), "l2"_a.noconvert(), "spent"_a.noconvert(),
                "scale"_a.noconvert(), "v"_a.noconvert());
}

}  // namespace streamsieve
