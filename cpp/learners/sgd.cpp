#include "learners/sgd.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_sgd(nb::module_& m) {
    m.def(
        "sgd",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double eta,
           const AnySchedule& schedule, double lam, bool intercept, Vector<double> clock, AnyMoments moments,
           Matrix<double> v, Vector<double> scale, Vector<double> bias) {
            const StepSize step = step_size(eta, schedule, lam, intercept, clock);
            return dispatch(X, loss, Index(y.shape(1)), moments,
                            [&](const auto& rows, auto l, auto q, auto& units) {
                                return sgd(rows, l, q, units, y.data(), data_or_null(weight), step,
                                           Index(v.shape(0)), v.data(), scale.data(), bias.data());
                            });
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "schedule"_a, "lam"_a,
        "intercept"_a, "clock"_a.noconvert(), "moments"_a.noconvert().none(), "v"_a.noconvert(),
        "scale"_a.noconvert(), "bias"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
