#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <variant>

#include "core/bind.hpp"
#include "core/dispatch.hpp"
#include "walk.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;
using namespace sieve;

using Ints = Vector<const std::int32_t>;
using Doubles = Vector<const double>;

// The arrays of a store, as the kernels read them; it shares their memory.
struct StoreView {
    Source source;
    std::vector<nb::object> held;
};

void check_signals() {
    nb::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(held->data(), {held->size()}, owner);
}

nb::tuple as_tuple(Escaped&& e) {
    return nb::make_tuple(owned(std::move(e.tile)), owned(std::move(e.row)), owned(std::move(e.column)),
                          owned(std::move(e.value)));
}

// Means and divisors of all columns, in units of the store and of the summary, and variances: rows of one
// matrix
Units units_of(const Matrix<const double>& units) {
    const Index w = Index(units.shape(1));
    const double* u = units.data();
    return {u, u + w, u + 2 * w, u + 3 * w, u + 4 * w};
}

template <class T>
std::vector<T> vector_of(const Vector<const T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

Fit fit_of(nb::handle columns, nb::handle B, nb::handle b) {
    const auto weights = nb::cast<Matrix<const double>>(B);
    return {vector_of(nb::cast<Ints>(columns)),
            {weights.data(), weights.data() + weights.size()},
            vector_of(nb::cast<Doubles>(b))};
}

nb::tuple as_tuple(const Fit& fit) {
    const std::size_t c = fit.b.size(), w = fit.columns.size();
    auto* B = new std::vector<double>(fit.B);
    nb::capsule owner(B, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::make_tuple(owned(std::vector<std::int32_t>(fit.columns)),
                          nb::ndarray<nb::numpy, double, nb::ndim<2>>(B->data(), {c, w}, owner),
                          owned(std::vector<double>(fit.b)));
}

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void bind_solvers(nb::module_& m) {
    m.def(
        "sieve_fit",
        [](const StoreView& store, const Loss& loss, bool joint, Matrix<const double> y,
           Matrix<const double> units, std::optional<Cube> H, std::optional<Matrix<const double>> h,
           bool intercept, double tolerance, double share, Vector<const std::int32_t> unit,
           Vector<const std::uint8_t> flags, nb::list starts, std::int64_t copy_bytes,
           std::int64_t cached_bytes, unsigned threads) {
            Index c = 1;
            std::vector<Vector<const float>> weights;
            std::vector<std::tuple<std::vector<double>, Fit, std::vector<Index>>> todo;
            for (nb::handle start : starts) {
                const auto [weight, penalty, columns, B, b, sizes] = nb::cast<
                    std::tuple<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object>>(
                    start);
                weights.push_back(nb::cast<Vector<const float>>(weight));
                std::vector<Index> at;
                for (nb::handle size : sizes) at.push_back(nb::cast<Index>(size));
                todo.emplace_back(vector_of(nb::cast<Doubles>(penalty)), fit_of(columns, B, b),
                                  std::move(at));
                c = Index(std::get<1>(todo.back()).b.size());
            }
            Common common{store.source, {loss, joint, c, y.data()}, units_of(units), {}};
            if (H) common.summary = {H->data(), h->data(), Index(H->shape(0)), Index(H->shape(1)) - 1};
            common.intercept = intercept, common.tolerance = tolerance,
            common.copies = {copy_bytes, cached_bytes};
            common.share = share;
            common.unit = unit.data(), common.flags = flags.data();
            common.groups = groups_of(store.source, c);
            std::vector<Job> jobs;
            {
                nb::gil_scoped_release free;
                jobs.reserve(todo.size());
                for (std::size_t j = 0; j < todo.size(); ++j) {
                    auto& [L, fit, sizes] = todo[j];
                    jobs.emplace_back(common, weights[j].data(), std::move(L), std::move(fit),
                                      std::move(sizes));
                }
                run(jobs, common, threads, check_signals);
            }
            nb::list out;
            for (const Job& job : jobs) {
                nb::list fits;
                for (const Fit& fit : job.fits()) fits.append(as_tuple(fit));
                out.append(fits);
            }
            return out;
        },
        "store"_a, "loss"_a, "joint"_a, "y"_a.noconvert(), "units"_a.noconvert(), "H"_a.none(), "h"_a.none(),
        "intercept"_a, "tolerance"_a, "share"_a, "unit"_a.noconvert(), "flags"_a.noconvert(), "starts"_a,
        "copy_bytes"_a, "cached_bytes"_a, "threads"_a);
    m.def(
        "sieve_predict",
        [](const StoreView& store, const Loss& loss, bool joint, Matrix<const double> y,
           Matrix<const double> units, nb::object columns, nb::object B, nb::object b,
           std::optional<Vector<double>> losses, std::optional<Matrix<double>> margins, unsigned threads) {
            const Fit fit = fit_of(columns, B, b);
            const Common common{
                store.source, {loss, joint, Index(fit.b.size()), y.data()}, units_of(units), {}};
            nb::gil_scoped_release free;
            predict(common, fit, losses ? losses->data() : nullptr, margins ? margins->data() : nullptr,
                    threads);
        },
        "store"_a, "loss"_a, "joint"_a, "y"_a.noconvert(), "units"_a.noconvert(), "columns"_a, "B"_a, "b"_a,
        "losses"_a.none(), "margins"_a.none(), "threads"_a);
}

template <class T>
void bind_append(nb::module_& m) {
    m.def(
        "sieve_append",
        [](AnyMatrix<T> X, Ints source, Doubles shift, Vector<double> sum, Vector<double> square,
           Vector<double> low, Vector<double> high, Weights weight, Vector<float> tiles, Index R, Index at,
           unsigned threads) {
            const Columns c{source.data(), Index(source.shape(0)), shift.data(),
                            sum.data(),    square.data(),          low.data(),
                            high.data(),   data_or_null(weight)};
            append_tiles(X.data(), Index(X.stride(0)), Index(X.stride(1)), Index(X.shape(0)), c, tiles.data(),
                         R, at, threads, [R](unsigned) { return PutFloats{R}; });
        },
        "X"_a.noconvert(), "source"_a.noconvert(), "shift"_a.noconvert(), "sum"_a.noconvert(),
        "square"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "weight"_a.none(),
        "tiles"_a.noconvert(), "R"_a, "at"_a, "threads"_a, NoGil());
    m.def(
        "sieve_append_codes",
        [](AnyMatrix<T> X, Ints source, Doubles shift, Vector<double> sum, Vector<double> square,
           Vector<double> low, Vector<double> high, Weights weight, Vector<std::int8_t> tiles, Index R,
           Index at, Doubles offset, Doubles unit, unsigned threads) {
            const Columns c{source.data(), Index(source.shape(0)), shift.data(),
                            sum.data(),    square.data(),          low.data(),
                            high.data(),   data_or_null(weight)};
            const Coding coding(offset.data(), unit.data(), c.width);
            std::vector<Escaped> escaped(threads);
            {
                nb::gil_scoped_release free;
                append_tiles(X.data(), Index(X.stride(0)), Index(X.stride(1)), Index(X.shape(0)), c,
                             tiles.data(), R, at, threads,
                             [&](unsigned t) { return PutCodes{R, coding, escaped[t]}; });
            }
            return as_tuple(merge(std::move(escaped)));
        },
        "X"_a.noconvert(), "source"_a.noconvert(), "shift"_a.noconvert(), "sum"_a.noconvert(),
        "square"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "weight"_a.none(),
        "tiles"_a.noconvert(), "R"_a, "at"_a, "offset"_a.noconvert(), "unit"_a.noconvert(), "threads"_a);
}

void bind_layouts(nb::module_& m) {
    m.def(
        "sieve_recode",
        [](Vector<std::uint8_t> memory, Index n, Index width, Index R, Doubles offset, Doubles unit) {
            Escaped out;
            {
                nb::gil_scoped_release free;
                recode(memory.data(), n, width, R, Coding(offset.data(), unit.data(), width), out);
            }
            return as_tuple(std::move(out));
        },
        "memory"_a.noconvert(), "n"_a, "width"_a, "R"_a, "offset"_a.noconvert(), "unit"_a.noconvert());
    m.def(
        "sieve_narrow",
        [](Vector<std::uint8_t> memory, Index tiles, Index width, Index R, Index size, Ints kept) {
            select_tiles(memory.data(), tiles, width, R * size, kept.data(), Index(kept.shape(0)),
                         memory.data());
        },
        "memory"_a.noconvert(), "tiles"_a, "width"_a, "R"_a, "size"_a, "kept"_a.noconvert(), NoGil());
    m.def(
        "sieve_append_csr",
        [](const AnyRows& X, Ints place, Vector<double> sum, Vector<double> square, Vector<double> low,
           Vector<double> high, Vector<std::int64_t> present, Weights weight, Vector<std::int64_t> indptr,
           Index at, Vector<std::int32_t> indices, Vector<float> data, std::int64_t budget,
           std::int64_t row_cost) {
            const Columns c{nullptr,       0,          nullptr,     sum.data(),
                            square.data(), low.data(), high.data(), data_or_null(weight)};
            return X.visit_plain([&](const auto& rows) -> Index {
                if constexpr (requires { rows.indptr; }) {
                    return append_csr(rows, place.data(), c, present.data(), indptr.data(), at,
                                      indices.data(), data.data(), budget, row_cost);
                } else {
                    throw nb::type_error("CSR rows expected");
                }
            });
        },
        "X"_a, "place"_a.noconvert(), "sum"_a.noconvert(), "square"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert(), "present"_a.noconvert(), "weight"_a.none(), "indptr"_a.noconvert(), "at"_a,
        "indices"_a.noconvert(), "data"_a.noconvert(), "budget"_a, "row_cost"_a, NoGil());
    m.def(
        "sieve_row_keys",
        [](const AnyRows& X, Vector<std::uint32_t> key) {
            return X.visit_plain([&](const auto& rows) { return row_keys(rows, key.data()); });
        },
        "X"_a, "key"_a.noconvert(), NoGil());
    m.def(
        "sieve_select_csr",
        [](const StoreView& store, Ints place, Vector<std::int64_t> indptr, Vector<std::int32_t> indices,
           Vector<float> data) {
            const auto& x = std::get<CsrArrays>(store.source.arrays);
            return select_csr(x.indptr, x.indices, x.data, store.source.n, place.data(), indptr.data(),
                              indices.data(), data.data());
        },
        "store"_a, "place"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "data"_a.noconvert(), NoGil());
    m.def(
        "sieve_decode",
        [](const StoreView& store, Index first, Ints place, Matrix<double> out) {
            const Source& s = store.source;
            const Index n = Index(out.shape(0)), count = Index(out.shape(1));
            if (const auto* x = std::get_if<TileArrays>(&s.arrays)) {
                decode_tiles(x->cells, s.width, s.R, {}, first, n, place.data(), count, out.data());
            } else if (const auto* q = std::get_if<CodeArrays>(&s.arrays)) {
                decode_tiles(q->cells, s.width, s.R, q->escapes, first, n, place.data(), count, out.data());
            } else {
                const auto& csr = std::get<CsrArrays>(s.arrays);
                decode_csr(csr.indptr, csr.indices, csr.data, first, n, place.data(), count, out.data());
            }
        },
        "store"_a, "first"_a, "place"_a.noconvert(), "out"_a.noconvert(), NoGil());
}

void bind_views(nb::module_& m) {
    nb::class_<StoreView>(m, "SieveStore");
    m.def(
        "sieve_tiles",
        [](Vector<const float> tiles, Index n, Index width, Index R) {
            return StoreView{{TileArrays{tiles.data()}, n, width, R}, {nb::cast(tiles)}};
        },
        "tiles"_a.noconvert(), "n"_a, "width"_a, "R"_a);
    m.def(
        "sieve_codes",
        [](Vector<const std::int8_t> tiles, Index n, Index width, Index R, Vector<const std::int64_t> start,
           Vector<const std::uint8_t> row, Ints column, Vector<const float> value) {
            const Escapes escapes{start.data(), row.data(), column.data(), value.data()};
            return StoreView{
                {CodeArrays{tiles.data(), escapes}, n, width, R},
                {nb::cast(tiles), nb::cast(start), nb::cast(row), nb::cast(column), nb::cast(value)}};
        },
        "tiles"_a.noconvert(), "n"_a, "width"_a, "R"_a, "start"_a.noconvert(), "row"_a.noconvert(),
        "column"_a.noconvert(), "value"_a.noconvert());
    m.def(
        "sieve_csr",
        [](Vector<const std::int64_t> indptr, Ints indices, Vector<const float> data, Index n, Index width) {
            return StoreView{{CsrArrays{indptr.data(), indices.data(), data.data()}, n, width, kMostRows},
                             {nb::cast(indptr), nb::cast(indices), nb::cast(data)}};
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n"_a, "width"_a);
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    bind_views(m);
    bind_solvers(m);
    bind_append<float>(m);
    bind_append<double>(m);
    bind_layouts(m);
});

}  // namespace streamsieve
