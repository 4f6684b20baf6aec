#include <cmath>

#include "dispatch.hpp"
#include "topk.hpp"

namespace streamsieve {
namespace {

using namespace nb::literals;

// Where each named value of x goes: its index and its value. Unknown names get the next free index and are
// added to `names` if `grow`, else they are left out. Returns how many were written, or -1 at the first value
// that is not within `limit`.
Index index_features(nb::dict x, nb::dict names, Vector<std::int64_t> indices, Vector<double> values,
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
            indices.data()[n] = nb::cast<std::int64_t>(next);
        } else {
            indices.data()[n] = PyLong_AsLongLong(known);
        }
        values.data()[n++] = number;
    }
    return n;
}

}  // namespace

void bind_learners(nb::module_& m) {
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
}

}  // namespace streamsieve
