#include "learners/l1arda.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_ladder(m, "l1arda", [](Fields& rule, Fields& f, const Penalties& penalty) {
        const auto sum = f.table<double>("sum");
        return L1Arda{read_adagrad(rule, f), penalty.l1.data(), &f.record<double>("last"), sum.data,
                      sum.rows};
    });
});

}  // namespace streamsieve
