#include "learners/barda.hpp"

#include "core/learner.hpp"
#include "learners/read_heap.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "barda", [](const Call& call, Fields& rule_fields, Fields& f) {
        const AdaptiveRule rule = read_adaptive(rule_fields);
        const auto place = f.vector<std::int32_t>("place").data();
        const BardaState state{f.record<RowCount>("clock"),
                               f.record<BardaBounds>("bounds"),
                               read_heap<KeptHeap>(f.fields("kept"), place),
                               read_heap<Outsiders>(f.fields("pool"), place),
                               place,
                               f.table<double>("gradient"),
                               read_bias(rule_fields, f)};
        const bool naive = rule_fields.flag("naive");
        return with_groups(rule_fields, state.gradient.rows, [&](const auto& groups) {
            return call.dispatch([&](const auto& rows, auto q) {
                return barda(rows, call.loss, q, call.y, call.weight, rule, naive, groups, state);
            });
        });
    });
});

}  // namespace streamsieve
