#include "learners/bamd.hpp"

#include "core/learner.hpp"
#include "learners/read_heap.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "bamd", [](const Call& call, Fields& rule_fields, Fields& f) {
        const AdaptiveRule rule = read_adaptive(rule_fields);
        const auto place = f.vector<std::int32_t>("place").data();
        const BamdState state{f.record<RowCount>("clock"), read_heap<KeptHeap>(f.fields("kept"), place),
                              place, f.table<double>("weight"), read_bias(rule_fields, f)};
        return with_groups(rule_fields, state.weight.rows, [&](const auto& groups) {
            return call.dispatch([&](const auto& rows, auto q) {
                return bamd(rows, call.loss, q, call.y, call.weight, rule, groups, state);
            });
        });
    });
});

}  // namespace streamsieve
