// How a learner of ladder.hpp is bound: the arguments that all of them take first, then those of its rule.
#pragma once
#include "core/dispatch.hpp"
#include "learners/ladder.hpp"

namespace streamsieve {

using namespace nb::literals;

using State = Vector<double>;
using Table = Matrix<double>;
using Penalties = Vector<const double>;

// `make` takes the learner's own arguments, which `names` names, and returns its rule, or a variant of rules.
template <class Rule, class... Own, class... Names>
void bind_ladder(nb::module_& m, const char* name, Rule (*make)(Own...), const Names&... names) {
    m.def(
        name,
        [make](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double eta,
               const AnySchedule& schedule, bool intercept, State clock, unsigned threads, State bias,
               Own... own) {
            const StepSize step = step_size(eta, schedule, 0, intercept, clock);
            const Slope slope =
                std::visit([](auto l) { return Slope{decltype(l)::derivative, l.curvature}; }, loss.loss);
            const auto run = [&](const auto& rows, auto& rule) {
                return ladder(rows, slope, Index(y.shape(1)), Index(bias.shape(0)), y.data(),
                              data_or_null(weight), step, threads, rule, bias.data());
            };
            Rule rule = make(own...);
            if constexpr (requires { std::variant_size<Rule>::value; })
                return std::visit(run, X.rows, rule);
            else
                return std::visit([&](const auto& rows) { return run(rows, rule); }, X.rows);
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "schedule"_a,
        "intercept"_a, "clock"_a.noconvert(), "threads"_a, "bias"_a.noconvert(), names..., NoGil());
}

}  // namespace streamsieve
