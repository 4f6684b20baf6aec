#include "learners/siht.hpp"

#include "core/learner.hpp"

namespace streamsieve {

using namespace nb::literals;

namespace {

Kept read_kept(Fields f) {
    const auto table = f.vector<std::int32_t>("table");
    const auto entry = f.table<std::int64_t>("entry");
    return {table.data(),
            Index(table.size()),
            reinterpret_cast<Kept::Entry*>(entry.data),
            f.vector<double>("score").data(),
            f.vector<std::int64_t>("size").data(),
            entry.rows};
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    def_learner(m, "siht", [](const Call& call, Fields& rule, Fields& f) {
        const SihtState state{f.record<Clock>("clock"),         f.table_or_none<double>("moments"),
                              read_kept(f.fields("kept")),      f.table<double>("weight"),
                              f.vector<double>("scale").data(), f.vector<double>("bias").data()};
        const StepSize step = step_size(rule, state.clock);
        return call.dispatch([&](const auto& rows, auto q) {
            return with_units(state.moments, rows.longest(), [&](auto& units) {
                return siht(rows, call.loss, q, units, call.y, call.weight, step, state);
            });
        });
    });
    // an empty table takes in the features that are kept
    m.def(
        "index_kept",
        [](Matrix<std::int64_t> entry, Vector<std::int32_t> table) {
            Kept(table.data(), Index(table.shape(0)), reinterpret_cast<Kept::Entry*>(entry.data()), nullptr,
                 nullptr, Index(entry.shape(0)))
                .index(Index(entry.shape(0)));
        },
        "entry"_a.noconvert(), "table"_a.noconvert(), NoGil());
    // whether a table, which has room left, leads to each of them
    m.def(
        "finds_kept",
        [](Matrix<std::int64_t> entry, Vector<std::int32_t> table) {
            const Kept kept(table.data(), Index(table.shape(0)), reinterpret_cast<Kept::Entry*>(entry.data()),
                            nullptr, nullptr, Index(entry.shape(0)));
            for (Index s = 0; s < kept.room(); ++s)
                if (kept.find(kept.feature(s)) != s) return false;
            return true;
        },
        "entry"_a.noconvert(), "table"_a.noconvert(), NoGil());
});

}  // namespace streamsieve
