#include <algorithm>
#include <cmath>
#include <vector>

#include "core/checks.hpp"
#include "core/columns.hpp"
#include "core/dispatch.hpp"
#include "core/topk.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

// Entries in the order of their indices.
void sort_entries(std::int32_t* indices, double* values, Index n) {
    if (std::is_sorted(indices, indices + n)) return;
    std::vector<std::pair<std::int32_t, double>> entries(static_cast<std::size_t>(n));
    for (Index e = 0; e < n; ++e) entries[std::size_t(e)] = {indices[e], values[e]};
    std::sort(entries.begin(), entries.end());
    for (Index e = 0; e < n; ++e) std::tie(indices[e], values[e]) = entries[std::size_t(e)];
}

// Where each named value of x goes: its index and its value, in the order of the indices. Unknown names get
// the next free index and are added to `names` if `grow`, else they are left out. They are one row of
// `indptr`. Returns their largest magnitude, or -1 at the first value that is not within `limit`.
double index_features(nb::dict x, nb::dict names, Vector<std::int32_t> indptr, Vector<std::int32_t> indices,
                      Vector<double> values, double limit, bool grow) {
    const Index room = Index(std::min(indices.shape(0), values.shape(0)));
    if (indptr.shape(0) != 2) throw nb::value_error("indptr is that of one row");
    PyObject *name, *value;
    Index n = 0;
    double largest = 0;
    for (Py_ssize_t at = 0; PyDict_Next(x.ptr(), &at, &name, &value);) {
        if (n == room) throw nb::value_error("indices and values must hold every entry of x");
        const double number = PyFloat_AsDouble(value);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        if (!(std::abs(number) <= limit)) return -1;
        PyObject* known = PyDict_GetItemWithError(names.ptr(), name);
        long j = 0;
        if (known) {
            j = PyLong_AsLong(known);
        } else {
            if (PyErr_Occurred()) throw nb::python_error();
            if (!grow) continue;
            j = long(nb::len(names));
            names[nb::handle(name)] = nb::int_(j);
        }
        indices.data()[n] = std::int32_t(j);
        values.data()[n++] = number;
        largest = std::max(largest, std::abs(number));
    }
    sort_entries(indices.data(), values.data(), n);
    indptr.data()[0] = 0;
    indptr.data()[1] = std::int32_t(n);
    return largest;
}

template <class T>
void bind_first_bad(nb::module_& m) {
    m.def(
        "first_bad",
        [](AnyMatrix<T> X, bool nan_ok, double limit) {
            double bound = 0;
            const Index at = first_bad(strided(X), nan_ok, limit, bound);
            return std::pair(at, bound);
        },
        "X"_a.noconvert(), "nan_ok"_a, "limit"_a = std::numeric_limits<double>::infinity(), NoGil());
}

template <class T, class I>
void bind_check_csr(nb::module_& m) {
    m.def(
        "check_csr",
        [](Vector<const I> indptr, Vector<const I> indices, Vector<const T> data, Index p, bool nan_ok,
           double limit, int threads) {
            const Index nnz = Index(std::min(indices.shape(0), data.shape(0)));
            const CsrCheck found =
                check_csr(csr(indptr, indices, data), nnz, p, nan_ok, limit, unsigned(threads));
            return std::tuple(int(found.fault), found.at, found.bound);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "p"_a, "nan_ok"_a,
        "limit"_a = INFINITY, "threads"_a = 1, NoGil());
}

template <class T, class I>
void bind_take_rows(nb::module_& m) {
    m.def(
        "take_rows",
        [](Vector<const I> indptr, Vector<const I> indices, Vector<const T> data,
           Vector<const std::int64_t> at, Vector<const I> out_indptr, Vector<I> out_indices,
           Vector<T> out_data) {
            take_rows(csr(indptr, indices, data), at.data(), Index(at.shape(0)), out_indptr.data(),
                      out_indices.data(), out_data.data());
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "at"_a.noconvert(),
        "out_indptr"_a.noconvert(), "out_indices"_a.noconvert(), "out_data"_a.noconvert(), NoGil());
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    bind_first_bad<float>(m);
    bind_first_bad<double>(m);
    bind_check_csr<float, std::int32_t>(m);
    bind_check_csr<float, std::int64_t>(m);
    bind_check_csr<double, std::int32_t>(m);
    bind_check_csr<double, std::int64_t>(m);
    bind_take_rows<float, std::int32_t>(m);
    bind_take_rows<float, std::int64_t>(m);
    bind_take_rows<double, std::int32_t>(m);
    bind_take_rows<double, std::int64_t>(m);
    // dense rows as doubles, mapped
    m.def(
        "read_dense",
        [](const AnyRows& X, Matrix<double> out) {
            X.visit([&](const auto& rows) {
                for (Index i = 0; i < rows.rows; ++i)
                    rows[i].each([&](Index j, double x) { out.data()[i * Index(out.shape(1)) + j] = x; });
            });
        },
        "rows"_a, "out"_a.noconvert(), NoGil());
    // CSR rows as doubles, mapped, into arrays with room for the centred columns of every row
    m.def(
        "read_csr",
        [](const AnyRows& X, Vector<std::int32_t> indptr, Vector<std::int32_t> indices, Vector<double> data) {
            X.visit([&](const auto& rows) {
                Index n = 0;
                indptr.data()[0] = 0;
                for (Index i = 0; i < rows.rows; ++i) {
                    rows[i].each([&](Index j, double x) {
                        indices.data()[n] = std::int32_t(j);
                        data.data()[n++] = x;
                    });
                    indptr.data()[i + 1] = std::int32_t(n);
                }
            });
        },
        "rows"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), NoGil());
    m.def(
        "column_sums",
        [](const AnyRows& X, const Weights& weight, Matrix<const double> y, Matrix<double> out) {
            const Index q = Index(y.shape(1));
            if (Index(y.shape(0)) != X.size() || Index(out.shape(1)) != 3 + q)
                throw nb::value_error("there must be targets for all rows, and sums for all targets");
            X.visit(
                [&](const auto& rows) { column_sums(rows, data_or_null(weight), y.data(), q, out.data()); });
        },
        "rows"_a, "weight"_a.noconvert().none(), "y"_a.noconvert(), "out"_a.noconvert(), NoGil());
    m.def(
        "count_far",
        [](const AnyRows& X, Vector<const double> center, Vector<const double> reach) {
            return X.visit_plain(
                [&](const auto& rows) { return count_far(rows, center.data(), reach.data()); });
        },
        "rows"_a, "center"_a.noconvert(), "reach"_a.noconvert(), NoGil());
    m.def(
        "far_runs",
        [](const AnyRows& X, Vector<const double> center, Vector<const double> reach, double row, double few,
           Matrix<double> runs, Vector<double> state, Vector<bool> wait) {
            if (runs.shape(1) * sizeof(double) != sizeof(FarRun) || state.shape(0) != 2)
                throw nb::value_error("a run is five numbers, and their state two");
            auto* to = reinterpret_cast<FarRun*>(runs.data());
            auto* all = reinterpret_cast<FarState*>(state.data());
            return X.visit_plain([&](const auto& rows) {
                return far_runs(rows, center.data(), reach.data(), row, few, to, *all, wait.data());
            });
        },
        "rows"_a, "center"_a.noconvert(), "reach"_a.noconvert(), "row"_a, "few"_a, "runs"_a.noconvert(),
        "state"_a.noconvert(), "wait"_a.noconvert(), NoGil());
    m.def(
        "largest_squares",
        [](const AnyRows& X, Index k) {
            return X.visit([&](const auto& rows) { return largest_squares(rows, k); });
        },
        "rows"_a, "k"_a, NoGil());
    m.def(
        "top_k",
        [](Vector<const double> score, Vector<std::int64_t> out) {
            return top_k(score.data(), Index(score.shape(0)), Index(out.shape(0)), out.data());
        },
        "score"_a.noconvert(), "out"_a.noconvert(), NoGil());
    // scale * W'x + b of rows that need no more columns than w has
    m.def(
        "margins",
        [](const AnyRows& X, Matrix<const double> w, double scale, Vector<const double> bias,
           Matrix<double> out) {
            const Index q = Index(w.shape(1));
            X.visit_plain([&](const auto& rows) {
                auto run = [&](auto outputs) {
                    Raw units;
                    for (Index i = 0; i < rows.rows; ++i) {
                        double* to = out.data() + i * outputs;
                        margins(rows[i], 1, outputs, units, w.data(), to);
                        for (Index o = 0; o < outputs; ++o) to[o] = scale * to[o] + bias.data()[o];
                    }
                };
                q == 1 ? run(One{}) : run(q);
            });
        },
        "rows"_a, "w"_a.noconvert(), "scale"_a, "bias"_a.noconvert(), "out"_a.noconvert(), NoGil());
    // value, derivative and bend of a loss, for each margin with its target
    m.def(
        "loss_points",
        [](const Loss& loss, Vector<const double> margin, Vector<const double> y, Matrix<double> out) {
            for (std::size_t i = 0; i < margin.shape(0); ++i) {
                const LossPoint at = loss.at(margin.data()[i], y.data()[i]);
                double* to = out.data() + 3 * i;
                to[0] = at.value, to[1] = at.derivative, to[2] = at.bend;
            }
        },
        "loss"_a, "margin"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert());
    m.def("index_features", index_features, "x"_a, "names"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
          "values"_a.noconvert(), "limit"_a, "grow"_a);
});

}  // namespace streamsieve
