#include "learners/adafobos.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_ladder(m, "adafobos", [](Fields& rule, Fields& f, const Penalties& penalty) {
        const auto weight = f.table<double>("weight");
        return AdaFobos{read_adagrad(rule, f), penalty.l1.data(), f.vector<double>("spent").data(),
                        weight.data,           weight.rows,       weight.cols};
    });
});

}  // namespace streamsieve
