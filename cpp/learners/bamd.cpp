#include "learners/bamd.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_bamd(nb::module_& m) {
    m.def(
        "bamd",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double eta,
           double lam, double delta, bool intercept, Vector<double> clock, Vector<double> size,
           Matrix<double> kept, Vector<std::int32_t> place, Matrix<double> at, Vector<double> bias,
           Vector<double> bias_at) {
            const KeptHeap heap(reinterpret_cast<Ranked*>(kept.data()), size.data(), place.data());
            return dispatch(X, loss, Index(y.shape(1)), [&](const auto& rows, auto l, auto q) {
                return bamd(rows, l, q, y.data(), data_or_null(weight), Adaptive{eta, lam, delta}, intercept,
                            struct_of<Clock>(clock), Index(kept.shape(0)), heap, place.data(), at.data(),
                            bias.data(), bias_at.data());
            });
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "lam"_a, "delta"_a,
        "intercept"_a, "clock"_a.noconvert(), "size"_a.noconvert(), "kept"_a.noconvert(),
        "place"_a.noconvert(), "at"_a.noconvert(), "bias"_a.noconvert(), "bias_at"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
