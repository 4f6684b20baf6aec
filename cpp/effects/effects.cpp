#include "core/bind.hpp"
#include "core/dispatch.hpp"
#include "effects/scan.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;
using namespace effects;

using Codes = Matrix<const std::uint8_t>;
template <class T>
using LevelTable = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void check_signals() {
    nb::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    m.def(
        "effects_bin",
        [](const AnyRows& X, Matrix<const double> edges, Vector<const double> origin,
           Vector<const double> inverse, Matrix<std::int64_t> count, Matrix<std::int64_t> sum,
           Matrix<std::uint8_t> codes, unsigned threads) {
            const Features f{Index(edges.shape(0)), edges.data(), origin.data(),
                             inverse.data(),        count.data(), sum.data()};
            X.visit_plain([&](const auto& rows) { bin(rows, f, codes.data(), threads); });
        },
        "rows"_a, "edges"_a.noconvert(), "origin"_a.noconvert(), "inverse"_a.noconvert(),
        "count"_a.noconvert(), "sum"_a.noconvert(), "codes"_a.noconvert(), "threads"_a, NoGil());
    m.def(
        "effects_permute",
        [](Matrix<std::uint8_t> codes, Vector<std::int64_t> order) {
            permute(codes.data(), Index(codes.shape(1)), order.data(), Index(order.shape(0)));
        },
        "codes"_a.noconvert(), "order"_a.noconvert(), NoGil());
    m.def(
        "effects_level_sums",
        [](Codes codes, Vector<const std::int64_t> rows, Matrix<const double> r, LevelTable<double> sums,
           unsigned threads) {
            level_sums(codes.data(), rows.data(), Index(rows.shape(0)), Index(codes.shape(1)), r.data(),
                       Index(r.shape(1)), sums.data(), threads);
        },
        "codes"_a.noconvert(), "rows"_a.noconvert(), "r"_a.noconvert(), "sums"_a.noconvert(), "threads"_a,
        NoGil());
    m.def(
        "effects_columns",
        [](Codes codes, Matrix<const std::int64_t> terms, Vector<const float> table,
           Vector<const float> times, Matrix<float> out) {
            columns(codes.data(), Index(codes.shape(0)), Index(codes.shape(1)),
                    reinterpret_cast<const Term*>(terms.data()), Index(terms.shape(0)), table.data(),
                    times.data(), out.data());
        },
        "codes"_a.noconvert(), "terms"_a.noconvert(), "table"_a.noconvert(), "times"_a.noconvert(),
        "out"_a.noconvert(), NoGil());
    m.def(
        "effects_scan",
        [](Codes codes, Vector<const std::int64_t> rows, Vector<const std::int32_t> features,
           LevelTable<const float> table, Matrix<const float> r, double cut, Index most, unsigned threads) {
            const Sample x{codes.data(),    Index(codes.shape(1)),    rows.data(),   Index(rows.shape(0)),
                           features.data(), Index(features.shape(0)), table.data(),  Index(table.shape(1)),
                           r.data(),        Index(r.shape(0)),        Index(threads)};
            std::vector<Pair> found;
            {
                nb::gil_scoped_release free;
                found = scan(x, cut, most, check_signals);
            }
            nb::list out;
            for (const Pair& pair : found) out.append(nb::make_tuple(pair.i, pair.j, double(pair.T)));
            return out;
        },
        "codes"_a.noconvert(), "rows"_a.noconvert(), "features"_a.noconvert(), "table"_a.noconvert(),
        "r"_a.noconvert(), "cut"_a, "most"_a, "threads"_a);
});

}  // namespace streamsieve
