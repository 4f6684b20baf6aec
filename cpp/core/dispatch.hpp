// From Python's arguments to the one instance of a kernel template that fits them.
//
// A learner's kernel is a template over (Rows, q, Units). `dispatch` calls it with the types that are inside
// AnyRows and, where there is one output, with One: 4 layouts x {1 output, q outputs} come from that one
// line. Layouts are told by dtype, losses and schedules by name; an unknown one is a TypeError, nothing is
// converted.
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

// A dense C-order array (n, p), or the tuple (indptr, indices, data) of a CSR matrix.
struct AnyRows {
    using Array = nb::ndarray<nb::ro, nb::device::cpu>;
    RowsVariant rows;
    Array held[3];  // keep the memory alive

    bool take(nb::handle src) {
        if (!PyTuple_Check(src.ptr())) {
            return nb::try_cast(src, held[0], false) && held[0].ndim() == 2 &&
                   (dense<float>() || dense<double>());
        }
        if (PyTuple_Size(src.ptr()) != 3) return false;
        for (Py_ssize_t a = 0; a < 3; ++a)
            if (!nb::try_cast(nb::handle(PyTuple_GetItem(src.ptr(), a)), held[a], false) ||
                held[a].ndim() != 1 || (held[a].shape(0) > 1 && held[a].stride(0) != 1))
                return false;
        return csr<float>() || csr<double>();
    }

  private:
    template <class T>
    bool dense() {
        const Array& X = held[0];
        if (X.dtype() != nb::dtype<T>() || (X.shape(1) > 1 && X.stride(1) != 1)) return false;
        rows = Dense<T>{static_cast<const T*>(X.data()), Index(X.shape(0)), Index(X.shape(1)),
                        Index(X.stride(0))};
        return true;
    }
    template <class T>
    bool csr() {
        using I = std::int32_t;
        if (held[0].dtype() != nb::dtype<I>() || held[1].dtype() != nb::dtype<I>() ||
            held[2].dtype() != nb::dtype<T>() || held[0].shape(0) == 0)
            return false;
        rows = Csr<T, I>{static_cast<const I*>(held[0].data()), static_cast<const I*>(held[1].data()),
                         static_cast<const T*>(held[2].data()), Index(held[0].shape(0)) - 1};
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
    return std::visit([&](const auto& rows) { return q == 1 ? kernel(rows, One{}) : kernel(rows, q); },
                      X.rows);
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
template <>
struct type_caster<streamsieve::Loss> : named_caster<streamsieve::Loss> {};
template <>
struct type_caster<streamsieve::AnySchedule> : named_caster<streamsieve::AnySchedule> {};

}  // namespace nanobind::detail
