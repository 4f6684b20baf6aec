#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <variant>

#include "../bind.hpp"
#include "../dispatch.hpp"
#include "glm.hpp"
#include "store.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;
using namespace sieve;

using Ints = Vector<const std::int32_t>;
using Doubles = Vector<const double>;

// The arrays of a store, as the kernels read them; it shares their memory.
struct StoreView {
    std::variant<Vector<const float>, Vector<const std::int8_t>, Vector<const std::int64_t>> first;
    Ints indices;               // CSR
    Vector<const float> data;   // CSR
    Vector<const std::int64_t> escape_start;
    Vector<const std::uint8_t> escape_row;
    Ints escape_column;
    Vector<const float> escape_value;
    Index n = 0, width = 0, R = kMostRows;

    Escapes escapes() const {
        if (!escape_start.is_valid()) return {};
        return {escape_start.data(), escape_row.data(), escape_column.data(), escape_value.data()};
    }
    // f(rows) with the operator of this layout on the active columns
    template <class F>
    void visit(const Ints& active, Index c, F f) const {
        const std::int32_t* a = active.data();
        const Index count = Index(active.shape(0));
        if (const auto* x = std::get_if<0>(&first)) {
            Tiles<float> rows(x->data(), n, width, R, a, count, c);
            f(rows);
        } else if (const auto* q = std::get_if<1>(&first)) {
            Tiles<std::int8_t> rows(q->data(), n, width, R, a, count, c, escapes());
            f(rows);
        } else {
            SparseRows rows(std::get<2>(first).data(), indices.data(), data.data(), n, width, a, count, c);
            f(rows);
        }
    }
};

Kind kind_of(const std::string& name) {
    if (name == "squared") return Kind::squared;
    if (name == "logistic") return Kind::logistic;
    if (name == "softmax") return Kind::softmax;
    if (name == "poisson") return Kind::poisson;
    if (name == "huber") return Kind::huber;
    throw nb::value_error("no such loss");
}

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

// (m, s) of the active columns in units of the store, and the same of the summary, as rows of one matrix
Units units_of(const Matrix<const double>& units) {
    const Index count = Index(units.shape(1));
    const double* u = units.data();
    return {u, u + count, u + 2 * count, u + 3 * count};
}

void bind_solvers(nb::module_& m) {
    m.def(
        "sieve_solve",
        [](const StoreView& store, Ints active, const std::string& kind, Matrix<const double> y,
           std::optional<Vector<const float>> weight, Matrix<const double> units, Doubles variance,
           std::optional<nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>> H,
           std::optional<Matrix<const double>> h, double L, double delta, Matrix<double> B, Vector<double> b,
           double tolerance, int newton, int gradients, unsigned threads) {
            const Index c = Index(b.shape(0)), count = Index(active.shape(0));
            const Target target{kind_of(kind), c, y.data(), weight ? weight->data() : nullptr, delta};
            Summary summary;
            if (H) summary = {H->data(), h->data(), Index(H->shape(0)), Index(H->shape(1)) - 1};
            const Effort effort{tolerance, newton, gradients, threads, check_signals};
            double f = 0;
            nb::gil_scoped_release free;
            store.visit(active, c, [&](auto& rows) {
                Glm glm(rows, target, units_of(units), summary, active.data(), count, L, effort);
                glm.variance_.assign(variance.data(), variance.data() + count);
                f = glm.solve(B.data(), b.data());
            });
            return f;
        },
        "store"_a, "active"_a.noconvert(), "kind"_a, "y"_a.noconvert(), "weight"_a.none(), "units"_a.noconvert(),
        "variance"_a.noconvert(), "H"_a.none(), "h"_a.none(), "L"_a, "delta"_a, "B"_a.noconvert(),
        "b"_a.noconvert(), "tolerance"_a, "newton"_a, "gradients"_a, "threads"_a);
    m.def(
        "sieve_losses",
        [](const StoreView& store, Ints active, const std::string& kind, Matrix<const double> y,
           Matrix<const double> units, double delta, Matrix<const double> B, Doubles b,
           std::optional<Vector<double>> losses, std::optional<Matrix<double>> margins, unsigned threads) {
            const Index c = Index(b.shape(0)), count = Index(active.shape(0));
            const Target target{kind_of(kind), c, y.data(), nullptr, delta};
            const Effort effort{0, 0, 0, threads, check_signals};
            nb::gil_scoped_release free;
            store.visit(active, c, [&](auto& rows) {
                Glm glm(rows, target, units_of(units), {}, active.data(), count, 0.0, effort);
                glm.losses(B.data(), b.data(), losses ? losses->data() : nullptr,
                           margins ? margins->data() : nullptr);
            });
        },
        "store"_a, "active"_a.noconvert(), "kind"_a, "y"_a.noconvert(), "units"_a.noconvert(), "delta"_a,
        "B"_a.noconvert(), "b"_a.noconvert(), "losses"_a.none(), "margins"_a.none(), "threads"_a);
}

template <class T>
void bind_append(nb::module_& m) {
    m.def(
        "sieve_append",
        [](AnyMatrix<T> X, Ints source, Doubles shift, Vector<double> sum, Vector<double> square,
           Weights weight, Vector<float> tiles, Index R, Index at) {
            const Columns c{source.data(), Index(source.shape(0)), shift.data(), sum.data(), square.data(),
                            data_or_null(weight)};
            append_tiles(X.data(), Index(X.stride(0)), Index(X.stride(1)), Index(X.shape(0)), c, tiles.data(),
                         R, at, [R](float* tile, Index, Index j, Index r, float v) { tile[j * R + r] = v; });
        },
        "X"_a.noconvert(), "source"_a.noconvert(), "shift"_a.noconvert(), "sum"_a.noconvert(),
        "square"_a.noconvert(), "weight"_a.none(), "tiles"_a.noconvert(), "R"_a, "at"_a, NoGil());
    m.def(
        "sieve_append_codes",
        [](AnyMatrix<T> X, Ints source, Doubles shift, Vector<double> sum, Vector<double> square,
           Weights weight, Vector<std::int8_t> tiles, Index R, Index at, Doubles offset, Doubles unit) {
            const Columns c{source.data(), Index(source.shape(0)), shift.data(), sum.data(), square.data(),
                            data_or_null(weight)};
            const Coding coding{offset.data(), unit.data()};
            Escaped out;
            {
                nb::gil_scoped_release free;
                append_tiles(X.data(), Index(X.stride(0)), Index(X.stride(1)), Index(X.shape(0)), c,
                             tiles.data(), R, at,
                             [&](std::int8_t* tile, Index block, Index j, Index r, float v) {
                                 float rest;
                                 tile[j * R + r] = coding(v, j, rest);
                                 if (rest == 0) return;
                                 out.tile.push_back(block);
                                 out.row.push_back(std::uint8_t(r));
                                 out.column.push_back(std::int32_t(j));
                                 out.value.push_back(rest);
                             });
            }
            return as_tuple(std::move(out));
        },
        "X"_a.noconvert(), "source"_a.noconvert(), "shift"_a.noconvert(), "sum"_a.noconvert(),
        "square"_a.noconvert(), "weight"_a.none(), "tiles"_a.noconvert(), "R"_a, "at"_a,
        "offset"_a.noconvert(), "unit"_a.noconvert());
}

void bind_layouts(nb::module_& m) {
    m.def(
        "sieve_recode",
        [](Vector<std::uint8_t> memory, Index n, Index width, Index R, Doubles offset, Doubles unit) {
            Escaped out;
            {
                nb::gil_scoped_release free;
                recode(memory.data(), n, width, R, Coding{offset.data(), unit.data()}, out);
            }
            return as_tuple(std::move(out));
        },
        "memory"_a.noconvert(), "n"_a, "width"_a, "R"_a, "offset"_a.noconvert(), "unit"_a.noconvert());
    m.def(
        "sieve_narrow",
        [](Vector<std::uint8_t> memory, Index tiles, Index width, Index R, Index size, Ints kept) {
            narrow_tiles(memory.data(), tiles, width, R, size, kept.data(), Index(kept.shape(0)));
        },
        "memory"_a.noconvert(), "tiles"_a, "width"_a, "R"_a, "size"_a, "kept"_a.noconvert(), NoGil());
    m.def(
        "sieve_append_csr",
        [](const AnyRows& X, Index first, Ints place, Vector<double> sum, Vector<double> square,
           Vector<std::int64_t> present, Weights weight, Vector<std::int64_t> indptr, Index at,
           Vector<std::int32_t> indices, Vector<float> data, std::int64_t budget, std::int64_t row_cost) {
            const Columns c{nullptr, 0, nullptr, sum.data(), square.data(), data_or_null(weight)};
            return std::visit(
                [&](const auto& rows) -> Index {
                    if constexpr (requires { rows.indptr; }) {
                        return append_csr(rows, first, place.data(), c, present.data(), indptr.data(), at,
                                          indices.data(), data.data(), budget, row_cost);
                    } else {
                        throw nb::type_error("CSR rows expected");
                    }
                },
                X.rows);
        },
        "X"_a, "first"_a, "place"_a.noconvert(), "sum"_a.noconvert(), "square"_a.noconvert(),
        "present"_a.noconvert(), "weight"_a.none(), "indptr"_a.noconvert(), "at"_a, "indices"_a.noconvert(),
        "data"_a.noconvert(), "budget"_a, "row_cost"_a, NoGil());
    m.def(
        "sieve_select_csr",
        [](const StoreView& store, Ints place, Vector<std::int64_t> indptr, Vector<std::int32_t> indices,
           Vector<float> data) {
            return select_csr(std::get<2>(store.first).data(), store.indices.data(), store.data.data(), store.n,
                              place.data(), indptr.data(), indices.data(), data.data());
        },
        "store"_a, "place"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "data"_a.noconvert(), NoGil());
    m.def(
        "sieve_tiles_from_csr",
        [](const StoreView& store, Ints place, Index count, Index R, Vector<float> tiles) {
            tiles_from_csr(std::get<2>(store.first).data(), store.indices.data(), store.data.data(), store.n,
                           place.data(), count, R, tiles.data());
        },
        "store"_a, "place"_a.noconvert(), "count"_a, "R"_a, "tiles"_a.noconvert(), NoGil());
    m.def(
        "sieve_decode",
        [](const StoreView& store, Index first, Ints place, Matrix<double> out) {
            const Index n = Index(out.shape(0)), count = Index(out.shape(1));
            if (const auto* x = std::get_if<0>(&store.first))
                decode_tiles(x->data(), store.width, store.R, {}, first, n, place.data(), count, out.data());
            else if (const auto* q = std::get_if<1>(&store.first))
                decode_tiles(q->data(), store.width, store.R, store.escapes(), first, n, place.data(), count,
                             out.data());
            else
                decode_csr(std::get<2>(store.first).data(), store.indices.data(), store.data.data(), first, n,
                           place.data(), count, out.data());
        },
        "store"_a, "first"_a, "place"_a.noconvert(), "out"_a.noconvert(), NoGil());
}

void bind_views(nb::module_& m) {
    nb::class_<StoreView>(m, "SieveStore");
    m.def(
        "sieve_tiles",
        [](Vector<const float> tiles, Index n, Index width, Index R) {
            StoreView view;
            view.first = tiles, view.n = n, view.width = width, view.R = R;
            return view;
        },
        "tiles"_a.noconvert(), "n"_a, "width"_a, "R"_a);
    m.def(
        "sieve_codes",
        [](Vector<const std::int8_t> tiles, Index n, Index width, Index R, Vector<const std::int64_t> start,
           Vector<const std::uint8_t> row, Ints column, Vector<const float> value) {
            StoreView view;
            view.first = tiles, view.n = n, view.width = width, view.R = R;
            view.escape_start = start, view.escape_row = row, view.escape_column = column;
            view.escape_value = value;
            return view;
        },
        "tiles"_a.noconvert(), "n"_a, "width"_a, "R"_a, "start"_a.noconvert(), "row"_a.noconvert(),
        "column"_a.noconvert(), "value"_a.noconvert());
    m.def(
        "sieve_csr",
        [](Vector<const std::int64_t> indptr, Ints indices, Vector<const float> data, Index n, Index width) {
            StoreView view;
            view.first = indptr, view.indices = indices, view.data = data, view.n = n, view.width = width;
            return view;
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n"_a, "width"_a);
}

}  // namespace

void bind_sieve(nb::module_& m) {
    bind_views(m);
    bind_solvers(m);
    bind_append<float>(m);
    bind_append<double>(m);
    bind_layouts(m);
}

}  // namespace streamsieve
