#include "learners/fobos.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {

const Binding bindings([](nb::module_& m) {
    def_ladder(m, "fobos", [](Fields&, Fields& f, const Penalties& penalty) {
        const auto weight = f.table<double>("weight");
        return Fobos{penalty.l1.data(),
                     penalty.l2.data(),
                     f.vector<double>("spent").data(),
                     f.vector<double>("scale").data(),
                     weight.data,
                     weight.rows,
                     weight.cols};
    });
});

}  // namespace streamsieve
