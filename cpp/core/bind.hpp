// What every binding needs: array types, and rows as they see them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "core/rows.hpp"

namespace streamsieve {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// What a .cpp file adds to the module. It needs no mention anywhere else: the module walks all there are.
class Binding {
  public:
    using Add = void (*)(nb::module_&);
    explicit Binding(Add add) : add_(add), next_(first_) { first_ = this; }
    static void add_all(nb::module_& m) {
        for (const Binding* one = first_; one; one = one->next_) one->add_(m);
    }

  private:
    const Add add_;
    const Binding* const next_;
    inline static const Binding* first_ = nullptr;
};

// The kernels hold no Python object, so other Python threads may run meanwhile.
using NoGil = nb::call_guard<nb::gil_scoped_release>;

template <class T>
Strided<T> strided(const AnyMatrix<T>& X) {
    return {X.data(), Index(X.shape(0)), Index(X.shape(1)), Index(X.stride(0)), Index(X.stride(1))};
}

template <class T, class I>
Csr<T, I> csr(const Vector<const I>& indptr, const Vector<const I>& indices, const Vector<const T>& data) {
    return {indptr.data(), indices.data(), data.data(), Index(indptr.shape(0)) - 1};
}

}  // namespace streamsieve
