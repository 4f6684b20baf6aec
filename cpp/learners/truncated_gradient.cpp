#include "learners/truncated_gradient.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    using Bounded = TruncatedGradient<true>;
    using Unbounded = TruncatedGradient<false>;
    def_ladder(m, "truncated_gradient", [](Fields& rule, Fields& f, const Penalties& penalty) {
        const double theta = rule.number("theta"), every = rule.number("K");
        Gravity& gravity = f.record<Gravity>("gravity");
        const auto weight = f.table<double>("weight"), then = f.table_or_none<double>("then");
        using Either = std::variant<Unbounded, Bounded>;
        if (then)
            return Either(
                Bounded{penalty.l1.data(), theta, every, gravity, weight.data, then.data, weight.rows});
        return Either(Unbounded{penalty.l1.data(), theta, every, gravity, weight.data, nullptr, weight.rows});
    });
});

}  // namespace streamsieve
