#include "learners/sfsa.hpp"

#include "core/learner.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

Variant variant_named(const std::string& name) {
    constexpr std::pair<const char*, Variant> known[] = {{"plain", Variant::plain},
                                                         {"momentum", Variant::momentum},
                                                         {"nesterov", Variant::nesterov},
                                                         {"adam", Variant::adam}};
    for (const auto& [word, which] : known)
        if (name == word) return which;
    throw nb::value_error("unknown variant");
}

Annealing read_rule(Fields& rule, Fields& state) {
    return {rule.number("k"),
            rule.number("annealing"),
            rule.number("batch_size"),
            state.number("begin"),
            double(state.integer("maturity")),
            variant_named(rule.word("variant")),
            rule.number("eta"),
            schedule_of(rule),
            rule.number("alpha"),
            rule.flag("fit_intercept"),
            rule.flag("units"),
            rule.flag("deviations"),
            rule.flag("exact"),
            rule.flag("choosing")};
}

AnnealedState read_state(Fields& f) {
    return {f.record<AnnealedClock>("clock"),
            f.vector<std::int32_t>("slot"),
            f.vector<std::int32_t>("seen").data(),
            f.vector<std::int64_t>("id").data(),
            f.table<double>("slots").data,
            f.table<double>("moments"),
            f.vector<std::int32_t>("touched").data(),
            f.table<double>("bias").data};
}

// The values of a row in some columns, ascending; the rest is left out. O(n k), and O(nnz log k) of sparse
// rows.
void pick(const AnyRows& X, Vector<const std::int64_t> features, Matrix<double> out) {
    const Index k = Index(out.shape(1));
    const std::int64_t *first = features.data(), *last = first + k;
    std::visit(
        [&](const auto& rows) {
            for (Index i = 0; i < rows.rows; ++i) {
                const auto row = rows[i];
                double* to = out.data() + i * k;
                if constexpr (requires { row.j; }) {
                    for (Index s = 0; s < k; ++s) to[s] = X.map(Index(first[s]), 0.0);
                    row.each([&](Index j, double x) {
                        const std::int64_t* at = std::lower_bound(first, last, std::int64_t(j));
                        if (at != last && *at == j) to[at - first] = X.map(j, x);
                    });
                } else {
                    for (Index s = 0; s < k; ++s)
                        to[s] = X.map(Index(first[s]), double(row.value(Index(first[s]))));
                }
            }
        },
        X.rows);
}

// The score of every slot in use, of q outputs; `total` is the weight of all rows.
void scores(Matrix<const double> slots, Index q, double total, bool deviations, Vector<double> out) {
    for (Index s = 0; s < Index(out.shape(0)); ++s) {
        const Slot& feature = *reinterpret_cast<const Slot*>(slots.data() + s * Index(slots.shape(1)));
        const double scatter = deviations ? feature.scatter(total) : 1.0;
        out.data()[s] = rank(feature.weights(), q, scatter);
    }
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    // rule "losses": None, or where the mean loss of each batch that ends goes
    def_learner(m, "sfsa", [](const Call& call, Fields& rule, Fields& f) {
        const Annealing annealing = read_rule(rule, f);
        const AnnealedState state = read_state(f);
        double* losses = rule.has("losses") ? rule.vector<double>("losses").data() : nullptr;
        const LazyRows rows = call.X.lazily();
        const auto run = [&](auto q) {
            AnnealedModel model(state, annealing, q);
            return sfsa(rows, call.loss, q, call.y, call.weight, model, losses);
        };
        nb::gil_scoped_release release;
        return call.q == 1 ? run(One{}) : run(call.q);
    });
    m.def("sfsa_scores", scores, "slots"_a.noconvert(), "q"_a, "total"_a, "deviations"_a, "out"_a.noconvert(),
          NoGil());
    m.def("pick", pick, "rows"_a, "features"_a.noconvert(), "out"_a.noconvert(), NoGil());
});

}  // namespace streamsieve
