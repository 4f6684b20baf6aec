#include "learners/sgd.hpp"

#include "core/learner.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "sgd", [](const Call& call, Fields& rule, Fields& f) {
        const SgdState state{f.record<Clock>("clock"), f.table_or_none<double>("moments"),
                             f.table<double>("weight"), f.vector<double>("scale").data(),
                             f.vector<double>("bias").data()};
        StepSize step = step_size(rule, state.clock);
        const Clock* clock = count_zeros(step, state.moments);
        return call.dispatch([&](const auto& rows, auto q) {
            return with_units(
                state.moments, rows.longest(),
                [&](auto& units) {
                    return with_pairs(rows, q, units, state.weight.data, state.weight.rows, [&](auto* w) {
                        return sgd(rows, call.loss, q, units, call.y, call.weight, step, state, w);
                    });
                },
                clock);
        });
    });
});

}  // namespace streamsieve
