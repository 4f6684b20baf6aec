// How a learner of ladder.hpp is bound: what all of them read, and the function that reads its own fields.
#pragma once
#include "core/learner.hpp"
#include "learners/ladder.hpp"

namespace streamsieve {

// The penalties of a ladder by column (rung and output).
struct Penalties {
    std::vector<double> l1, l2;

    Penalties(Fields& rule, Fields& state)
        : Penalties(state.fields("ladder").vector<double>("penalty"), state.vector<double>("bias").size(),
                    rule.number("l1_ratio")) {}

  private:
    Penalties(std::span<const double> strength, std::size_t width, double l1_ratio) {
        if (strength.empty() || width % strength.size() != 0)
            throw nb::value_error("there must be an intercept for each penalty and output");
        const std::size_t q = width / strength.size();
        for (const double alpha : strength) {
            l1.insert(l1.end(), q, alpha * l1_ratio);
            l2.insert(l2.end(), q, alpha * (1 - l1_ratio));
        }
    }
};

// `make(rule, state, penalties)` returns the learner's rule (see ladder.hpp), or a variant of rules.
template <class Make>
void def_ladder(nb::module_& m, const char* name, Make make) {
    def_learner(m, name, [make](const Call& call, Fields& rule_fields, Fields& state) {
        const Penalties penalties(rule_fields, state);
        const StepSize step = step_size(rule_fields, state.record<Clock>("clock"));
        const unsigned threads = unsigned(rule_fields.integer("n_threads"));
        const auto bias = state.vector<double>("bias"), error = state.vector<double>("error");
        if (error.size() != bias.size()) throw nb::value_error("there must be an error for each intercept");
        auto rule = make(rule_fields, state, penalties);
        PlainRows rows(call.X.rows, call.X.map);
        const auto run = [&](auto& one) {
            return ladder(rows, call.loss, call.q, Index(bias.size()), call.y, call.weight, step, threads,
                          one, bias.data(), error.data());
        };
        nb::gil_scoped_release release;
        if constexpr (requires { std::variant_size<decltype(rule)>::value; })
            return std::visit(run, rule);
        else
            return run(rule);
    });
}

}  // namespace streamsieve
