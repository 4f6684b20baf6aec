#include "learners/l1arda.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

L1Arda rule(Penalties lam, double delta, State targets, State bias_h, State last, Table sum, Table h) {
    return {{delta, targets.data(), h.data(), bias_h.data()},
            lam.data(),
            last.data(),
            sum.data(),
            Index(sum.shape(0))};
}

}  // namespace

void bind_l1arda(nb::module_& m) {
    bind_ladder(m, "l1arda", rule, "lam"_a.noconvert(), "delta"_a, "targets"_a.noconvert(),
                "bias_h"_a.noconvert(), "last"_a.noconvert(), "sum"_a.noconvert(), "h"_a.noconvert());
}

}  // namespace streamsieve
