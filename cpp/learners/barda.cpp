#include "learners/barda.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_barda(nb::module_& m) {
    m.def(
        "barda",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double eta,
           double lam, double delta, bool intercept, Vector<double> clock, Vector<double> state,
           Matrix<double> kept, Matrix<double> pool, Vector<std::int32_t> place, Matrix<double> at,
           Vector<double> bias, Vector<double> bias_at) {
            const Adaptive rule{eta, lam, delta};
            return dispatch(X, loss, Index(y.shape(1)), [&](const auto& rows, auto l, auto q) {
                DualBest best(rule, q, Index(at.shape(0)), at.data(), struct_of<BardaState>(state),
                              Index(kept.shape(0)), reinterpret_cast<Ranked*>(kept.data()),
                              reinterpret_cast<Ranked*>(pool.data()), place.data());
                return barda(rows, l, q, y.data(), data_or_null(weight), rule, intercept,
                             struct_of<Clock>(clock), std::move(best), at.data(), bias.data(),
                             bias_at.data());
            });
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "lam"_a, "delta"_a,
        "intercept"_a, "clock"_a.noconvert(), "state"_a.noconvert(), "kept"_a.noconvert(),
        "pool"_a.noconvert(), "place"_a.noconvert(), "at"_a.noconvert(), "bias"_a.noconvert(),
        "bias_at"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
