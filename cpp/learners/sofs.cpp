#include "learners/sofs.hpp"

#include "core/learner.hpp"
#include "learners/read_heap.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "sofs", [](const Call& call, Fields& r, Fields& f) {
        const SofsRule rule{r.number("gamma"), r.flag("fit_intercept")};
        const auto place = f.vector<std::int32_t>("place").data();
        const SofsState state{f.record<RowCount>("clock"), read_heap<KeptHeap>(f.fields("kept"), place),
                              f.table<double>("weight"), f.vector<double>("bias").data(),
                              f.vector<double>("bias_precision").data()};
        return call.dispatch(
            [&](const auto& rows, auto q) { return sofs(rows, q, call.y, call.weight, rule, state); });
    });
});

}  // namespace streamsieve
