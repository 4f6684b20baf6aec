// From Python's arguments to the one instance of a kernel template that fits them.
//
// A learner's kernel is a template over (Rows, q, Units). `dispatch` calls it with dense or CSR rows of
// doubles (rows.hpp), whatever AnyRows holds, and with One where there is one output: {dense, CSR} x {1
// output, q outputs} come from that one line. Layouts are told by dtype, losses and schedules by name; an
// unknown one is a TypeError, nothing is converted.
#pragma once
#include <nanobind/stl/optional.h>

#include <cstring>
#include <optional>
#include <variant>

#include "core/bind.hpp"
#include "core/linear.hpp"
#include "core/losses.hpp"
#include "core/rows.hpp"
#include "core/steps.hpp"
#include "core/units.hpp"

namespace streamsieve {

// A dense C-order array (n, p) or the tuple (indptr, indices, data) of a CSR matrix; or a tuple of either of
// them and a map of its columns, (center or None, inverse units or None, centred columns or None).
class AnyRows {
  public:
    RowsVariant rows;  // as they come, without the map
    ColumnMap map;

    Index size() const {
        return std::visit([](const auto& X) { return X.rows; }, rows);
    }
    // f(X), X the rows as rows of doubles, mapped
    template <class F>
    auto visit(F&& f) const {
        return std::visit([&](const auto& X) { return f(as_doubles(X, map)); }, rows);
    }
    LazyRows lazily() const { return read_lazily(rows, map); }
    // f(X), X the rows as they come, of kernels that do not expect a map
    template <class F>
    auto visit_plain(F&& f) const {
        if (map) throw nb::value_error("rows without a map expected");
        return std::visit(f, rows);
    }

    bool take(nb::handle src) {
        PyObject* tuple = src.ptr();
        if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 2) return take_rows(src);
        return take_rows(PyTuple_GetItem(tuple, 0)) && take_map(PyTuple_GetItem(tuple, 1));
    }

  private:
    using Array = nb::ndarray<nb::ro, nb::device::cpu>;
    Array held_[6];  // keep the memory alive

    bool take_rows(nb::handle src) {
        if (!PyTuple_Check(src.ptr())) {
            return nb::try_cast(src, held_[0], false) && held_[0].ndim() == 2 &&
                   (dense<float>() || dense<double>());
        }
        if (PyTuple_Size(src.ptr()) != 3) return false;
        for (Py_ssize_t a = 0; a < 3; ++a)
            if (!vector(PyTuple_GetItem(src.ptr(), a), held_[a])) return false;
        return csr<float>() || csr<double>();
    }
    bool take_map(nb::handle src) {
        if (!PyTuple_Check(src.ptr()) || PyTuple_Size(src.ptr()) != 3) return false;
        const auto item = [&](Py_ssize_t at) { return nb::handle(PyTuple_GetItem(src.ptr(), at)); };
        return column(item(0), held_[3], map.center) && column(item(1), held_[4], map.inverse) &&
               column(item(2), held_[5], map.centred) &&
               (!map.center || (map.centred && (map.n_centred = Index(held_[5].shape(0)), true)));
    }
    static bool vector(nb::handle src, Array& held) {
        return nb::try_cast(src, held, false) && held.ndim() == 1 &&
               (held.shape(0) <= 1 || held.stride(0) == 1);
    }
    // A contiguous vector, or None.
    template <class T>
    static bool column(nb::handle src, Array& held, const T*& data) {
        if (src.is_none()) return true;
        if (!vector(src, held) || held.dtype() != nb::dtype<T>()) return false;
        data = static_cast<const T*>(held.data());
        return true;
    }
    template <class T>
    bool dense() {
        const Array& X = held_[0];
        if (X.dtype() != nb::dtype<T>() || (X.shape(1) > 1 && X.stride(1) != 1)) return false;
        rows = Dense<T>{static_cast<const T*>(X.data()), Index(X.shape(0)), Index(X.shape(1)),
                        Index(X.stride(0))};
        return true;
    }
    template <class T>
    bool csr() {
        using I = std::int32_t;
        if (held_[0].dtype() != nb::dtype<I>() || held_[1].dtype() != nb::dtype<I>() ||
            held_[2].dtype() != nb::dtype<T>() || held_[0].shape(0) == 0)
            return false;
        rows = Csr<T, I>{static_cast<const I*>(held_[0].data()), static_cast<const I*>(held_[1].data()),
                         static_cast<const T*>(held_[2].data()), Index(held_[0].shape(0)) - 1};
        return true;
    }
};

struct AnySchedule {
    Schedule schedule = Schedule::constant;
    bool set(const char* name) {
        constexpr std::pair<const char*, Schedule> known[] = {
            {"constant", Schedule::constant}, {"sqrt", Schedule::sqrt}, {"doubling", Schedule::doubling}};
        for (const auto& [word, which] : known)
            if (std::strcmp(name, word) == 0) return schedule = which, true;
        return false;
    }
};

// Numbers of an array, by their names.
template <class Struct>
Struct* struct_of(const Vector<double>& numbers) {
    if (numbers.shape(0) * sizeof(double) != sizeof(Struct))
        throw nb::value_error("an array of state does not hold as many numbers as the kernel has names for");
    return reinterpret_cast<Struct*>(numbers.data());
}

// What Python knows of a step: (eta or 0 to derive it, schedule, lam, fit_intercept), and the clock.
inline StepSize step_size(double eta, const AnySchedule& schedule, double lam, bool intercept,
                          const Vector<double>& clock) {
    return {eta, schedule.schedule, lam, intercept, struct_of<Clock>(clock)};
}

using Weights = std::optional<Vector<const double>>;  // sample weights, None for ones
inline const double* data_or_null(const Weights& w) {
    return w ? w->data() : nullptr;
}

// kernel(rows, q)
template <class F>
auto dispatch(const AnyRows& X, Index q, F&& kernel) {
    return X.visit([&](const auto& rows) { return q == 1 ? kernel(rows, One{}) : kernel(rows, q); });
}

}  // namespace streamsieve

namespace nanobind::detail {

template <>
struct type_caster<streamsieve::AnyRows> {
    NB_TYPE_CASTER(streamsieve::AnyRows, const_name("Rows"))
    bool from_python(handle src, uint8_t, cleanup_list*) noexcept { return value.take(src); }
};

template <class Named>
struct named_caster {
    NB_TYPE_CASTER(Named, const_name("str"))
    bool from_python(handle src, uint8_t flags, cleanup_list* cleanup) noexcept {
        type_caster<char> name;
        return name.from_python(src, flags, cleanup) && value.set(name.operator const char*());
    }
};
// A loss of core/losses.py: its name, and its parameters as attributes.
template <>
struct type_caster<streamsieve::Loss> {
    NB_TYPE_CASTER(streamsieve::Loss, const_name("Loss"))
    bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
        const object name = steal(PyObject_GetAttrString(src.ptr(), "name"));
        const char* word = name.is_valid() ? PyUnicode_AsUTF8AndSize(name.ptr(), nullptr) : nullptr;
        const bool found = word && value.set(word, [&](const char* param) {
            const object number = steal(PyObject_GetAttrString(src.ptr(), param));
            return number.is_valid() ? PyFloat_AsDouble(number.ptr()) : -1.0;
        });
        const bool failed = PyErr_Occurred();
        PyErr_Clear();
        return found && !failed;
    }
};
template <>
struct type_caster<streamsieve::AnySchedule> : named_caster<streamsieve::AnySchedule> {};

}  // namespace nanobind::detail
