#include "learners/olst.hpp"

#include "core/learner.hpp"

namespace streamsieve {

using namespace nb::literals;

const Binding bindings([](nb::module_& m) {
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
            return X.visit([&](const auto& rows) {
                return innovations(rows, p, q, y.data(), data_or_null(weight), intercept, a,
                                   out.data() + at * p, out_y.data() + at * q);
            });
        },
        "rows"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "intercept"_a, "total"_a.noconvert(),
        "mean"_a.noconvert(), "square"_a.noconvert(), "first"_a.noconvert(), "mean_y"_a.noconvert(),
        "square_y"_a.noconvert(), "xy"_a.noconvert(), "out"_a.noconvert(), "out_y"_a.noconvert(), "at"_a,
        NoGil());
    // rows that are not learned, but tell moments and steps
    m.def(
        "measure",
        [](const AnyRows& X, const Weights& weight, nb::handle rule, nb::handle state, Index k) {
            Fields rule_fields(rule), f(state);
            StepSize step = step_size(rule_fields, f.record<Clock>("clock"));
            const auto moments = f.table_or_none<double>("moments");
            const Clock* clock = k == 0 ? count_zeros(step, moments) : nullptr;
            const double* w = data_or_null(weight);
            nb::gil_scoped_release release;
            X.visit([&](const auto& rows) {
                return with_units(
                    moments, rows.longest(),
                    [&](auto& units) {
                        measure(rows, units, w, step, k);
                        return rows.rows;
                    },
                    clock);
            });
        },
        "rows"_a, "weight"_a.noconvert().none(), "rule"_a, "state"_a, "k"_a);
});

}  // namespace streamsieve
