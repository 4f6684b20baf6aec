#include "learners/sadmm.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

using Sums = std::optional<Table>;  // of the rda form only

Sadmm rule(Penalties lam, double rho, State last, Table skipped, Table w, Table s, Table then, Sums G,
           Sums U) {
    if (skipped.shape(0) != std::size_t(ring) || skipped.shape(1) * sizeof(double) != sizeof(Skipped))
        throw nb::value_error("the ring of steps has another shape");
    return {lam.data(),
            rho,
            bool(G),
            last.data(),
            reinterpret_cast<Skipped*>(skipped.data()),
            w.data(),
            s.data(),
            G ? G->data() : nullptr,
            U ? U->data() : nullptr,
            then.data(),
            Index(w.shape(0)),
            Index(w.shape(1))};
}

// All weights as of row t.
void settle(double t, Penalties lam, double rho, State last, Table skipped, Table w, Table s, Table then,
            Sums G, Sums U) {
    const Sadmm all = rule(lam, rho, last, skipped, w, s, then, G, U);
    for (Index c = 0; c < all.width; ++c) all.settle(c, t);
}

}  // namespace

void bind_sadmm(nb::module_& m) {
    bind_ladder(m, "sadmm", rule, "lam"_a.noconvert(), "rho"_a, "last"_a.noconvert(), "skipped"_a.noconvert(),
                "w"_a.noconvert(), "s"_a.noconvert(), "then"_a.noconvert(), "G"_a.noconvert().none(),
                "U"_a.noconvert().none());
    m.def("sadmm_settle", settle, "t"_a, "lam"_a.noconvert(), "rho"_a, "last"_a.noconvert(),
          "skipped"_a.noconvert(), "w"_a.noconvert(), "s"_a.noconvert(), "then"_a.noconvert(),
          "G"_a.noconvert().none(), "U"_a.noconvert().none(), NoGil());
}

}  // namespace streamsieve
