#include "learners/olst.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

void bind_olst(nb::module_& m) {
    m.def(
        "innovations",
        [](const AnyRows& X, Matrix<const double> y, Weights weight, bool intercept, Vector<double> total,
           Vector<double> mean, Vector<double> square, Vector<double> first, Vector<double> mean_y,
           Vector<double> square_y, Matrix<double> xy, Matrix<double> out, Matrix<double> out_y, Index at) {
            const Index p = Index(mean.shape(0)), q = Index(mean_y.shape(0)), n = Index(y.shape(0));
            if (at < 0 || at + n > Index(out.shape(0)) || at + n > Index(out_y.shape(0)) ||
                Index(out.shape(1)) != p || Index(out_y.shape(1)) != q)
                throw nb::value_error("out and out_y must have room for the rows");
            const Averages a{total.data(),  mean.data(),     square.data(), first.data(),
                             mean_y.data(), square_y.data(), xy.data()};
            return std::visit(
                [&](const auto& rows) {
                    return innovations(rows, p, q, y.data(), data_or_null(weight), intercept, a,
                                       out.data() + at * p, out_y.data() + at * q);
                },
                X.rows);
        },
        "rows"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "intercept"_a, "total"_a.noconvert(),
        "mean"_a.noconvert(), "square"_a.noconvert(), "first"_a.noconvert(), "mean_y"_a.noconvert(),
        "square_y"_a.noconvert(), "xy"_a.noconvert(), "out"_a.noconvert(), "out_y"_a.noconvert(), "at"_a,
        NoGil());
    m.def(
        "measure",
        [](const AnyRows& X, Weights weight, double eta, const AnySchedule& schedule, double lam,
           bool intercept, Vector<double> clock, AnyMoments moments, Index k) {
            const StepSize step = step_size(eta, schedule, lam, intercept, clock);
            const auto run = [&](const auto& rows, auto& units) {
                measure(rows, units, data_or_null(weight), step, k);
            };
            std::visit(
                [&](const auto& rows) {
                    if (moments) {
                        Moments units(moments->data(), rows.longest());
                        run(rows, units);
                    } else {
                        Raw units;
                        run(rows, units);
                    }
                },
                X.rows);
        },
        "rows"_a, "weight"_a.noconvert().none(), "eta"_a, "schedule"_a, "lam"_a, "intercept"_a,
        "clock"_a.noconvert(), "moments"_a.noconvert().none(), "k"_a, NoGil());
}

}  // namespace streamsieve
