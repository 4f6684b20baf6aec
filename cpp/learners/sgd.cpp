#include "learners/sgd.hpp"

#include "core/learner.hpp"

namespace streamsieve {

void bind_sgd(nb::module_& m) {
    def_learner(m, "sgd", [](const Call& call, Fields& rule, Fields& f) {
        const SgdState state{f.record<Clock>("clock"), f.table_or_none<double>("moments"),
                             f.table<double>("weight"), f.vector<double>("scale").data(),
                             f.vector<double>("bias").data()};
        const StepSize step = step_size(rule, state.clock);
        return call.dispatch(state.moments, [&](const auto& rows, const Loss& loss, auto q, auto& units) {
            return sgd(rows, loss, q, units, call.y, call.weight, step, state);
        });
    });
}

}  // namespace streamsieve
