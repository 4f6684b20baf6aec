#include "learners/rda.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_ladder(m, "rda", [](Fields& rule, Fields& f, const Penalties& penalty) {
        const auto sum = f.table<double>("sum");
        return Rda{penalty.l1.data(),         penalty.l2.data(), rule.number("rho"),
                   &f.record<double>("last"), sum.data,          sum.rows};
    });
});

}  // namespace streamsieve
