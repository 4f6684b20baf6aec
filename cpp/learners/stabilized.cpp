#include "learners/stabilized.hpp"

#include "core/learner.hpp"

namespace streamsieve {

using namespace nb::literals;

namespace {

Stabilizing read_rule(const Loss& loss, Fields& rule) {
    return {loss,
            rule.number("burst_size"),
            rule.number("n_bursts"),
            rule.number("burst_growth"),
            rule.number("rejection"),
            rule.number("rejection_decay"),
            rule.number("spared"),
            rule.number("threshold"),
            rule.number("min_bursts"),
            rule.number("budget"),
            rule.flag("fixed_gravity"),
            rule.flag("universal"),
            rule.number("eta"),
            schedule_of(rule),
            rule.flag("fit_intercept"),
            rule.integer("block_size"),
            rule.natural("seed"),
            unsigned(rule.integer("threads"))};
}

StableState read_state(Fields& f) {
    const auto slot = f.vector<std::int32_t>("slot");
    const auto id = f.vector<std::int64_t>("id");
    const auto head = f.records<PathHead>("head");
    const auto weights = f.cube<double>("weights");
    const auto change = f.table<double>("change");
    return {&f.record<StageClock>("clock"),
            Index(slot.size()),
            slot.data(),
            id.data(),
            f.vector<std::uint8_t>("alive").data(),
            f.records<Tally>("tally").data(),
            reinterpret_cast<Values*>(f.table_or_none<double>("values").data),
            f.records<Unit>("unit").data(),
            Index(id.size()),
            head.data(),
            f.table<double>("bias").data,
            weights.data,
            weights.cols,
            f.table<std::int32_t>("touched").data,
            change.data,
            f.table<std::int32_t>("which").data,
            change.cols,
            Index(head.size())};
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    // rule "stages": where a line about each stage that ends goes. Returns (rows learned, stages ended, room
    // for slots and for records that the next block needs: 0 if it has it).
    m.def(
        "stabilized",
        [](const AnyRows& X, const Loss& loss, Matrix<const double> y, const Weights& weight,
           nb::handle rule_, nb::handle state_) {
            const Index n = Index(y.shape(0)), q = Index(y.shape(1));
            if (X.size() != n || (weight && Index(weight->shape(0)) != n))
                throw nb::value_error("rows, targets and weights must be equally many");
            Fields rule_fields(rule_), state_fields(state_);
            const Stabilizing rule = read_rule(loss, rule_fields);
            const StableState state = read_state(state_fields);
            Stage* stages = rule_fields.records<Stage>("stages").data();
            Learned out;
            {
                nb::gil_scoped_release release;
                const double* r = data_or_null(weight);
                const auto run = [&](Translator& rows, auto outputs) {
                    return Stabilized(rows, outputs, y.data(), r, state, rule, stages).run();
                };
                out = std::visit(
                    [&](const auto& x) {
                        TranslatorOf<std::decay_t<decltype(x)>> rows(state, x, n, r);
                        return q == 1 ? run(rows, One{}) : run(rows, q);
                    },
                    X.lazily());
            }
            return std::tuple(out.rows, out.stages, out.slots, out.records);
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "rule"_a, "state"_a);
});

}  // namespace streamsieve
