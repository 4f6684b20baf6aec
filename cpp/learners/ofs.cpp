#include "learners/ofs.hpp"

#include "core/learner.hpp"
#include "learners/read_heap.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "ofs", [](const Call& call, Fields& r, Fields& f) {
        const OfsRule rule{r.number("eta"), r.number("alpha"), r.flag("fit_intercept")};
        const auto place = f.vector<std::int32_t>("place").data();
        const OfsState state{f.record<RowCount>("clock"),
                             f.record<OfsNorm>("norm"),
                             read_heap<KeptHeap>(f.fields("kept"), place),
                             place,
                             f.table<double>("weight"),
                             f.vector<double>("scale").data(),
                             f.vector<double>("bias").data()};
        return call.dispatch(
            [&](const auto& rows, auto q) { return ofs(rows, q, call.y, call.weight, rule, state); });
    });
});

}  // namespace streamsieve
