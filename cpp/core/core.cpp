#include <cmath>

#include "core/checks.hpp"
#include "core/dispatch.hpp"
#include "core/topk.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

// Where each named value of x goes: its index and its value. Unknown names get the next free index and are
// added to `names` if `grow`, else they are left out. Returns how many were written, or -1 at the first value
// that is not within `limit`.
Index index_features(nb::dict x, nb::dict names, Vector<std::int32_t> indices, Vector<double> values,
                     double limit, bool grow) {
    if (indices.shape(0) < nb::len(x) || values.shape(0) < nb::len(x))
        throw nb::value_error("indices and values must hold every entry of x");
    Index n = 0;
    for (auto [name, value] : x) {
        const double number = PyFloat_AsDouble(value.ptr());
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        if (!(std::abs(number) <= limit)) return -1;
        PyObject* known = PyDict_GetItemWithError(names.ptr(), name.ptr());
        if (!known) {
            if (PyErr_Occurred()) throw nb::python_error();
            if (!grow) continue;
            const nb::int_ next(nb::len(names));
            names[name] = next;
            indices.data()[n] = nb::cast<std::int32_t>(next);
        } else {
            indices.data()[n] = nb::cast<std::int32_t>(nb::handle(known));
        }
        values.data()[n++] = number;
    }
    return n;
}

template <class T>
void bind_first_bad(nb::module_& m) {
    m.def(
        "first_bad",
        [](AnyMatrix<T> X, bool nan_ok, double limit) { return first_bad(strided(X), nan_ok, limit); },
        "X"_a.noconvert(), "nan_ok"_a, "limit"_a = std::numeric_limits<double>::infinity(), NoGil());
}

template <class T, class I>
void bind_check_csr(nb::module_& m) {
    m.def(
        "check_csr",
        [](Vector<const I> indptr, Vector<const I> indices, Vector<const T> data, Index p, bool nan_ok,
           double limit, int threads) {
            const Index nnz = Index(std::min(indices.shape(0), data.shape(0)));
            const auto [fault, at] =
                check_csr(csr(indptr, indices, data), nnz, p, nan_ok, limit, unsigned(threads));
            return std::pair(int(fault), at);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "p"_a, "nan_ok"_a,
        "limit"_a = INFINITY, "threads"_a = 1, NoGil());
}

}  // namespace

const Binding bindings([](nb::module_& m) {
    bind_first_bad<float>(m);
    bind_first_bad<double>(m);
    bind_check_csr<float, std::int32_t>(m);
    bind_check_csr<float, std::int64_t>(m);
    bind_check_csr<double, std::int32_t>(m);
    bind_check_csr<double, std::int64_t>(m);
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
            std::visit(
                [&](const auto& rows) {
                    auto run = [&](auto outputs) {
                        Raw units;
                        for (Index i = 0; i < rows.rows; ++i) {
                            double* to = out.data() + i * outputs;
                            margins(rows[i], 1, outputs, units, w.data(), to);
                            for (Index o = 0; o < outputs; ++o) to[o] = scale * to[o] + bias.data()[o];
                        }
                    };
                    q == 1 ? run(One{}) : run(q);
                },
                X.rows);
        },
        "rows"_a, "w"_a.noconvert(), "scale"_a, "bias"_a.noconvert(), "out"_a.noconvert(), NoGil());
    m.def("index_features", index_features, "x"_a, "names"_a, "indices"_a.noconvert(), "values"_a.noconvert(),
          "limit"_a, "grow"_a);
});

}  // namespace streamsieve
