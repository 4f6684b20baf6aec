#include "learners/ofs.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_ofs(nb::module_& m) {
    m.def(
        "ofs",
        [](const AnyRows& X, Matrix<const double> y, Weights weight, double eta, double lam, bool intercept,
           Vector<double> clock, Vector<double> state, Matrix<double> kept, Vector<std::int32_t> place,
           Matrix<double> v, Vector<double> scale, Vector<double> bias) {
            const KeptHeap heap(reinterpret_cast<Ranked*>(kept.data()), state.data(), place.data());
            return dispatch(X, Index(y.shape(1)), [&](const auto& rows, auto q) {
                return ofs(rows, q, y.data(), data_or_null(weight), eta, lam, intercept,
                           struct_of<Clock>(clock), Index(kept.shape(0)), struct_of<OfsState>(state), heap,
                           place.data(), v.data(), scale.data(), bias.data());
            });
        },
        "rows"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "lam"_a, "intercept"_a,
        "clock"_a.noconvert(), "state"_a.noconvert(), "kept"_a.noconvert(), "place"_a.noconvert(),
        "v"_a.noconvert(), "scale"_a.noconvert(), "bias"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
