#include "learners/siht.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_siht(nb::module_& m) {
    m.def(
        "siht",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double eta,
           const AnySchedule& schedule, double lam, bool intercept, Vector<double> clock, AnyMoments moments,
           Vector<std::int32_t> table, Matrix<std::int64_t> entry, Vector<double> score,
           Vector<std::int64_t> size, Matrix<double> v, Vector<double> scale, Vector<double> bias) {
            const StepSize step = step_size(eta, schedule, lam, intercept, clock);
            const Kept kept(table.data(), Index(table.shape(0)), reinterpret_cast<Kept::Entry*>(entry.data()),
                            score.data(), size.data(), Index(entry.shape(0)));
            return dispatch(X, loss, Index(y.shape(1)), moments,
                            [&](const auto& rows, auto l, auto q, auto& units) {
                                return siht(rows, l, q, units, y.data(), data_or_null(weight), step, kept,
                                            v.data(), scale.data(), bias.data());
                            });
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "schedule"_a, "lam"_a,
        "intercept"_a, "clock"_a.noconvert(), "moments"_a.noconvert().none(), "table"_a.noconvert(),
        "entry"_a.noconvert(), "score"_a.noconvert(), "size"_a.noconvert(), "v"_a.noconvert(),
        "scale"_a.noconvert(), "bias"_a.noconvert(), NoGil());
    // an empty table takes in the features that are kept
    m.def(
        "index_kept",
        [](Matrix<std::int64_t> entry, Vector<std::int32_t> table) {
            Kept(table.data(), Index(table.shape(0)), reinterpret_cast<Kept::Entry*>(entry.data()), nullptr,
                 nullptr, Index(entry.shape(0)))
                .index(Index(entry.shape(0)));
        },
        "entry"_a.noconvert(), "table"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
