// How Python calls the kernel of a learner: name(rows, loss, y, weight, rule, state) -> rows learned.
//
// A binding is one `def_learner` with a function that reads rule and state into structs and calls the kernel
// through `call.dispatch`, which finds the one instance that fits the rows and releases the GIL.
#pragma once
#include "core/dispatch.hpp"
#include "core/fields.hpp"

namespace streamsieve {

// Rows, targets (n, q) and weights (n, or null for ones) of one call, with the loss.
struct Call {
    const AnyRows& X;
    const Loss& loss;
    const double* y;
    const double* weight;
    Index q;

    // kernel(rows, q), the rows as doubles
    template <class F>
    Index dispatch(F&& kernel) const {
        nb::gil_scoped_release release;
        return streamsieve::dispatch(X, q, kernel);
    }
};

// kernel(units), in units of the features by their moments, or of the data without. `longest`: row. With a
// clock the zeros of a feature count.
template <class F>
Index with_units(const Table<double>& moments, Index longest, F&& kernel, const Clock* clock = nullptr) {
    if (moments) {
        Moments units(moments.data, longest, clock);
        return kernel(units);
    }
    Raw units;
    return kernel(units);
}

inline Schedule schedule_of(Fields& rule) {
    AnySchedule schedule;
    if (!schedule.set(rule.word("schedule").c_str())) throw nb::value_error("unknown schedule");
    return schedule.schedule;
}

inline StepSize step_size(Fields& rule, Clock& clock) {
    return {rule.number("eta"), schedule_of(rule), rule.number("alpha"), rule.flag("fit_intercept"), &clock};
}

// The same for steps that weigh features by how rare they are, if derived; the clock for `with_units`.
inline const Clock* count_zeros(StepSize& step, const Table<double>& moments) {
    if (step.eta > 0 || !moments) return nullptr;
    step.unit = 1;
    return step.clock;
}

template <class Learn>
void def_learner(nb::module_& m, const char* name, Learn learn) {
    using namespace nb::literals;
    m.def(
        name,
        [learn](const AnyRows& X, const Loss& loss, Matrix<const double> y, const Weights& weight,
                nb::handle rule, nb::handle state) {
            const Index n = X.size();
            if (Index(y.shape(0)) != n || (weight && Index(weight->shape(0)) != n))
                throw nb::value_error("rows, targets and weights must be equally many");
            Fields rule_fields(rule), state_fields(state);
            return learn(Call{X, loss, y.data(), data_or_null(weight), Index(y.shape(1))}, rule_fields,
                         state_fields);
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "rule"_a, "state"_a);
}

}  // namespace streamsieve
