#include "adafobos.hpp"
#include "arda.hpp"
#include "dispatch.hpp"
#include "fobos.hpp"
#include "rda.hpp"
#include "sadmm.hpp"
#include "tgrad.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

using State = Vector<double>;
using Table = Matrix<double>;
using Penalties = Vector<const double>;

// What all of them take first, as every learner does; then come penalties and the rule's own state.
struct Call {
    const AnyRows& X;
    const AnyLoss& loss;
    const Matrix<const double>& y;
    const Weights& weight;
    StepSize step;
    unsigned threads;
    State& bias;

    template <class Rule>
    Index operator()(Rule& rule, const Table& state) const {
        const Index q = Index(y.shape(1)), width = Index(bias.shape(0));
        const Slope slope =
            std::visit([](auto l) { return Slope{decltype(l)::derivative, l.curvature}; }, loss.loss);
        return std::visit(
            [&](const auto& rows) {
                return ladder(rows, slope, q, Index(state.shape(0)), width, y.data(), data_or_null(weight),
                              step, threads, rule, bias.data());
            },
            X.rows);
    }
};

#define COMMON                                                                                 \
    const AnyRows &X, const AnyLoss &loss, Matrix<const double> y, Weights weight, double eta, \
        const AnySchedule &schedule, bool intercept, State clock, unsigned threads, State bias
#define COMMON_ARGUMENTS                                                                         \
    "rows"_a, "loss"_a, "y"_a.noconvert(), "weight"_a.noconvert().none(), "eta"_a, "schedule"_a, \
        "intercept"_a, "clock"_a.noconvert(), "threads"_a, "bias"_a.noconvert()
#define CALL                                                                             \
    Call {                                                                               \
        X, loss, y, weight, step_size(eta, schedule, 0, intercept, clock), threads, bias \
    }

Index fobos(COMMON, Penalties lam, Penalties l2, State spent, State scale, Table v) {
    Fobos rule{lam.data(), l2.data(),         spent.data(),     scale.data(),
               v.data(),   Index(v.shape(0)), Index(v.shape(1))};
    return CALL(rule, v);
}

Index truncated_gradient(COMMON, Penalties lam, double theta, double every, State pull, State last, Table w,
                         std::optional<Table> then) {
    if (then) {
        TruncatedGradient<true> rule{lam.data(),  theta,    every,       last.data(),
                                     pull.data(), w.data(), then->data()};
        return CALL(rule, w);
    }
    TruncatedGradient<false> rule{lam.data(), theta, every, last.data(), pull.data(), w.data(), nullptr};
    return CALL(rule, w);
}

Index rda(COMMON, Penalties lam, Penalties l2, double rho, State last, Table sum) {
    Rda rule{lam.data(), l2.data(), rho, last.data(), sum.data()};
    return CALL(rule, sum);
}

Index adafobos(COMMON, Penalties lam, double delta, State targets, State bias_h, State spent, Table v,
               Table h) {
    AdaFobos rule{{delta, targets.data(), h.data(), bias_h.data()},
                  lam.data(),
                  spent.data(),
                  v.data(),
                  Index(v.shape(0)),
                  Index(v.shape(1))};
    return CALL(rule, v);
}

Index l1arda(COMMON, Penalties lam, double delta, State targets, State bias_h, State last, Table sum,
             Table h) {
    L1Arda rule{{delta, targets.data(), h.data(), bias_h.data()}, lam.data(), last.data(), sum.data()};
    return CALL(rule, sum);
}

using Sums = std::optional<Table>;  // of the rda form only

Sadmm sadmm_rule(const Penalties& lam, double rho, const State& last, const Table& skipped, const Table& w,
                 const Table& s, const Table& then, const Sums& G, const Sums& U) {
    if (skipped.shape(0) != std::size_t(ring) || skipped.shape(1) * sizeof(double) != sizeof(Skipped))
        throw nb::value_error("the ring of steps has another shape");
    return {lam.data(),
            rho,
            bool(G),
            last.data(),
            reinterpret_cast<Skipped*>(skipped.data()),
            w.data(),
            s.data(),
            G ? G->data() : nullptr,
            U ? U->data() : nullptr,
            then.data(),
            Index(w.shape(0)),
            Index(w.shape(1))};
}

Index sadmm(COMMON, Penalties lam, double rho, State last, Table skipped, Table w, Table s, Table then,
            Sums G, Sums U) {
    Sadmm rule = sadmm_rule(lam, rho, last, skipped, w, s, then, G, U);
    return CALL(rule, w);
}

// All weights as of row t.
void sadmm_settle(double t, Penalties lam, double rho, State last, Table skipped, Table w, Table s,
                  Table then, Sums G, Sums U) {
    const Sadmm rule = sadmm_rule(lam, rho, last, skipped, w, s, then, G, U);
    for (Index c = 0; c < rule.width; ++c) rule.settle(c, t);
}

}  // namespace

void bind_regularised(nb::module_& m) {
    m.def("fobos", fobos, COMMON_ARGUMENTS, "lam"_a.noconvert(), "l2"_a.noconvert(), "spent"_a.noconvert(),
          "scale"_a.noconvert(), "v"_a.noconvert(), NoGil());
    m.def("truncated_gradient", truncated_gradient, COMMON_ARGUMENTS, "lam"_a.noconvert(), "theta"_a,
          "every"_a, "pull"_a.noconvert(), "last"_a.noconvert(), "w"_a.noconvert(),
          "then"_a.noconvert().none(), NoGil());
    m.def("rda", rda, COMMON_ARGUMENTS, "lam"_a.noconvert(), "l2"_a.noconvert(), "rho"_a,
          "last"_a.noconvert(), "sum"_a.noconvert(), NoGil());
    m.def("adafobos", adafobos, COMMON_ARGUMENTS, "lam"_a.noconvert(), "delta"_a, "targets"_a.noconvert(),
          "bias_h"_a.noconvert(), "spent"_a.noconvert(), "v"_a.noconvert(), "h"_a.noconvert(), NoGil());
    m.def("l1arda", l1arda, COMMON_ARGUMENTS, "lam"_a.noconvert(), "delta"_a, "targets"_a.noconvert(),
          "bias_h"_a.noconvert(), "last"_a.noconvert(), "sum"_a.noconvert(), "h"_a.noconvert(), NoGil());
    m.def("sadmm", sadmm, COMMON_ARGUMENTS, "lam"_a.noconvert(), "rho"_a, "last"_a.noconvert(),
          "skipped"_a.noconvert(), "w"_a.noconvert(), "s"_a.noconvert(), "then"_a.noconvert(),
          "G"_a.noconvert().none(), "U"_a.noconvert().none(), NoGil());
    m.def("sadmm_settle", sadmm_settle, "t"_a, "lam"_a.noconvert(), "rho"_a, "last"_a.noconvert(),
          "skipped"_a.noconvert(), "w"_a.noconvert(), "s"_a.noconvert(), "then"_a.noconvert(),
          "G"_a.noconvert().none(), "U"_a.noconvert().none(), NoGil());
}

}  // namespace streamsieve
