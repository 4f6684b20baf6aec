#include "learners/sofs.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_sofs(nb::module_& m) {
    m.def(
        "sofs",
        [](const AnyRows& X, Matrix<const double> y, Weights weight, double gamma, bool intercept,
           Vector<double> clock, Vector<double> size, Matrix<double> kept, Vector<std::int32_t> place,
           Matrix<double> at, Vector<double> bias, Vector<double> bias_at) {
            const KeptHeap heap(reinterpret_cast<Ranked*>(kept.data()), size.data(), place.data());
            return dispatch(X, Index(y.shape(1)), [&](const auto& rows, auto q) {
                return sofs(rows, q, y.data(), data_or_null(weight), gamma, intercept,
                            struct_of<Clock>(clock), Index(kept.shape(0)), heap, place.data(), at.data(),
                            bias.data(), bias_at.data());
            });
        },
        "rows"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "gamma"_a, "intercept"_a,
        "clock"_a.noconvert(), "size"_a.noconvert(), "kept"_a.noconvert(), "place"_a.noconvert(),
        "at"_a.noconvert(), "bias"_a.noconvert(), "bias_at"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
