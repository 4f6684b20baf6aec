#include "learners/sfsa.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

Variant variant_named(const char* name) {
    constexpr std::pair<const char*, Variant> known[] = {{"plain", Variant::plain},
                                                         {"momentum", Variant::momentum},
                                                         {"nesterov", Variant::nesterov},
                                                         {"adam", Variant::adam}};
    for (const auto& [word, which] : known)
        if (std::strcmp(name, word) == 0) return which;
    throw nb::value_error("unknown variant");
}

// Where each value of a row goes among the columns that have a slot; the rest is left out. O(nnz + n k).
void pick(const AnyRows& X, Vector<const std::int32_t> slot, Matrix<double> out) {
    const Index k = Index(out.shape(1)), p = Index(slot.shape(0));
    std::fill_n(out.data(), out.size(), 0.0);
    std::visit(
        [&](const auto& rows) {
            for (Index i = 0; i < rows.rows; ++i)
                rows[i].each([&](Index j, double x) {
                    const Index s = j < p ? Index(slot.data()[j]) - 1 : -1;
                    if (s >= 0 && s < k) out.data()[i * k + s] = x;
                });
        },
        X.rows);
}

}  // namespace

void bind_sfsa(nb::module_& m) {
    m.def(
        "sfsa",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight, double k, double mu,
           double delay, double maturity, double batch, const char* variant, double eta,
           const AnySchedule& schedule, double lam, bool intercept, Vector<double> clock,
           Vector<std::int32_t> slot, Vector<std::int32_t> seen, Vector<std::int64_t> id,
           Matrix<double> slots, Matrix<double> moments, Vector<std::int32_t> touched, Matrix<double> bias,
           bool units, std::optional<Vector<double>> losses) {
            if (clock.shape(0) * sizeof(double) != sizeof(RungClock))
                throw nb::value_error("clock has the wrong length");
            const Annealing rule{
                k,   mu,       delay, maturity, batch, variant_named(variant), eta, schedule.schedule,
                lam, intercept};
            return dispatch(X, loss, Index(y.shape(1)), [&](const auto& rows, auto l, auto q) {
                using R = Rung<decltype(q)>;
                R rung({reinterpret_cast<RungClock*>(clock.data()), slot.data(), seen.data(), id.data(),
                        slots.data(), moments.data(), Index(moments.shape(1)), touched.data(), bias.data(),
                        units, Index(slot.shape(0))},
                       rule, q);
                return sfsa(rows, l, q, y.data(), data_or_null(weight), rung,
                            losses ? losses->data() : nullptr);
            });
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "k"_a, "mu"_a, "delay"_a,
        "maturity"_a, "batch"_a, "variant"_a, "eta"_a, "schedule"_a, "lam"_a, "intercept"_a,
        "clock"_a.noconvert(), "slot"_a.noconvert(), "seen"_a.noconvert(), "id"_a.noconvert(),
        "slots"_a.noconvert(), "moments"_a.noconvert(), "touched"_a.noconvert(), "bias"_a.noconvert(),
        "units"_a, "losses"_a.noconvert().none(), NoGil());
    m.def("pick", pick, "rows"_a, "slot"_a.noconvert(), "out"_a.noconvert(), NoGil());
    // the score of every slot in use, q outputs
    m.def(
        "sfsa_scores",
        [](Vector<const double> clock, Matrix<const double> slots, Index q, bool units, Vector<double> out) {
            const double total = reinterpret_cast<const RungClock*>(clock.data())->weight;
            for (Index s = 0; s < Index(out.shape(0)); ++s) {
                const Slot& f = *reinterpret_cast<const Slot*>(slots.data() + s * Index(slots.shape(1)));
                out.data()[s] = rank(f.weights(), q, units ? f.spread(total, 1 / total) : 1.0);
            }
        },
        "clock"_a.noconvert(), "slots"_a.noconvert(), "q"_a, "units"_a, "out"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
