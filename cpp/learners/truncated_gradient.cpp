#include "learners/truncated_gradient.hpp"

#include "learners/bind_ladder.hpp"

namespace streamsieve {
namespace {

using Bounded = TruncatedGradient<true>;
using Unbounded = TruncatedGradient<false>;

std::variant<Unbounded, Bounded> rule(Penalties lam, double theta, double every, State pull, State last,
                                      Table w, std::optional<Table> then) {
    const Index p = Index(w.shape(0));
    if (then) return Bounded{lam.data(), theta, every, last.data(), pull.data(), w.data(), then->data(), p};
    return Unbounded{lam.data(), theta, every, last.data(), pull.data(), w.data(), nullptr, p};
}

}  // namespace

void bind_truncated_gradient(nb::module_& m) {
    bind_ladder(m, "truncated_gradient", rule, "lam"_a.noconvert(), "theta"_a, "every"_a,
                "pull"_a.noconvert(), "last"_a.noconvert(), "w"_a.noconvert(), "then"_a.noconvert().none());
}

}  // namespace streamsieve
