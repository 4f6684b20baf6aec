#include "learners/sadmm.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

Sadmm make(Fields& rule, Fields& f, const Penalties& penalty) {
    const auto weight = f.table<double>("weight");
    const auto sum = f.table_or_none<double>("sum"), dual = f.table_or_none<double>("dual");
    const auto skipped = f.records<Skipped>("skipped");
    if (skipped.size() != std::size_t(ring)) throw nb::value_error("the ring of steps has another length");
    return {penalty.l1.data(),
            rule.number("rho"),
            bool(sum),
            &f.record<double>("last"),
            skipped.data(),
            weight.data,
            f.table<double>("split").data,
            sum.data,
            dual.data,
            f.table<double>("then").data,
            weight.rows,
            weight.cols};
}

// All weights as of now.
void settle(nb::handle rule_source, nb::handle state_source) {
    Fields rule(rule_source), state(state_source);
    const Penalties penalties(rule, state);
    const Sadmm all = make(rule, state, penalties);
    const double t = state.record<Clock>("clock").rows;
    nb::gil_scoped_release release;
    for (Index c = 0; c < all.width; ++c) all.settle(c, t);
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    using namespace nb::literals;
    def_ladder(m, "sadmm", make);
    m.def("sadmm_settle", settle, "rule"_a, "state"_a);
});

}  // namespace streamsieve
