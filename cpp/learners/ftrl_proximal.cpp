#include "learners/ftrl_proximal.hpp"

#include "core/learner.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_learner(m, "ftrl_proximal", [](const Call& call, Fields& given, Fields& f) {
        const FtrlRule rule{given.number("eta"), given.number("beta"), given.number("l1"), given.number("l2"),
                            given.flag("fit_intercept")};
        const FtrlState state{f.record<Clock>("clock"),
                              f.table_or_none<double>("moments"),
                              reinterpret_cast<FtrlSums*>(f.table<double>("sums").data),
                              reinterpret_cast<FtrlSums*>(f.vector<double>("bias_sums").data()),
                              f.record<FtrlRates>("least"),
                              f.vector<double>("targets").data()};
        return call.dispatch([&](const auto& rows, auto q) {
            return with_units(state.moments, rows.longest(), [&](auto& units) {
                return ftrl_proximal(rows, call.loss, q, units, call.y, call.weight, rule, state);
            });
        });
    });
});

}  // namespace streamsieve
