#include "learners/stabilized.hpp"

#include "core/dispatch.hpp"

namespace streamsieve {

using namespace nb::literals;

template <class T>
using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void bind_stabilized(nb::module_& m) {
    // (rows learned, stages ended, room for slots and for records that the next block needs: 0 if it has it)
    m.def(
        "stabilized",
        [](const AnyRows& X, const AnyLoss& loss, Matrix<const double> y, Weights weight,
           std::optional<Vector<const std::int64_t>> which_rows, std::int64_t block, std::uint64_t seed,
           double K, double bursts, double rejection, double gamma, double threshold, double evidence,
           double alpha, double budget, double eta, const AnySchedule& schedule, bool intercept, int threads,
           Vector<double> clock, Vector<std::int32_t> slot, Vector<std::int64_t> id,
           Vector<std::uint8_t> alive, Matrix<double> tally, std::optional<Matrix<double>> values,
           Matrix<double> unit, Matrix<double> head, Cube<double> weights, Matrix<std::int32_t> touched,
           Matrix<double> change, Matrix<std::int32_t> which, Matrix<double> stages) {
            const Stabilizing rule{K,      bursts, rejection,         gamma,    threshold, evidence, alpha,
                                   budget, eta,    schedule.schedule, intercept};
            const StableState state{struct_of<StageClock>(clock),
                                    Index(slot.shape(0)),
                                    slot.data(),
                                    id.data(),
                                    alive.data(),
                                    reinterpret_cast<Tally*>(tally.data()),
                                    values ? reinterpret_cast<Values*>(values->data()) : nullptr,
                                    unit.data(),
                                    Index(id.shape(0)),
                                    reinterpret_cast<PathHead*>(head.data()),
                                    Index(head.shape(1)),
                                    weights.data(),
                                    Index(weights.shape(2)),
                                    touched.data(),
                                    change.data(),
                                    which.data(),
                                    Index(change.shape(1)),
                                    Index(head.shape(0))};
            const double* r = data_or_null(weight);
            const Index n = Index(y.shape(0)), q = Index(y.shape(1));
            const auto run = [&]<class Loss>(Translator& rows, Loss, auto outputs) {
                return Stabilized<Loss, decltype(outputs)>(rows, block, seed, outputs, y.data(), r, state,
                                                           rule, unsigned(threads), stages.data())
                    .run();
            };
            const std::int64_t* order = which_rows ? which_rows->data() : nullptr;
            const Learned out = std::visit(
                [&](const auto& x, auto l) {
                    TranslatorOf<std::decay_t<decltype(x)>> rows(state, x, n, order, r);
                    return q == 1 ? run(rows, l, One{}) : run(rows, l, q);
                },
                X.rows, loss.loss);
            return std::tuple(out.rows, out.stages, out.slots, out.records);
        },
        "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(),
        "which_rows"_a.noconvert().none(), "block"_a, "seed"_a, "K"_a, "bursts"_a, "rejection"_a, "gamma"_a,
        "threshold"_a, "evidence"_a, "alpha"_a, "budget"_a, "eta"_a, "schedule"_a, "intercept"_a, "threads"_a,
        "clock"_a.noconvert(), "slot"_a.noconvert(), "id"_a.noconvert(), "alive"_a.noconvert(),
        "tally"_a.noconvert(), "values"_a.noconvert().none(), "unit"_a.noconvert(), "head"_a.noconvert(),
        "weights"_a.noconvert(), "touched"_a.noconvert(), "change"_a.noconvert(), "which"_a.noconvert(),
        "stages"_a.noconvert(), NoGil());
}

}  // namespace streamsieve
