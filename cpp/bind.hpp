// What every bind_*.cpp needs: array types, and one function per file that module.cpp lists.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "simd.hpp"

namespace streamsieve {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// The kernels hold no Python object, so other Python threads may run meanwhile.
using NoGil = nb::call_guard<nb::gil_scoped_release>;

void bind_averages(nb::module_& m);
void bind_bamd(nb::module_& m);
void bind_barda(nb::module_& m);
void bind_fsa(nb::module_& m);
void bind_learners(nb::module_& m);
void bind_olst(nb::module_& m);
void bind_ofs(nb::module_& m);
void bind_penalized(nb::module_& m);
void bind_regularised(nb::module_& m);
void bind_sfsa(nb::module_& m);
void bind_sgd(nb::module_& m);
void bind_sieve(nb::module_& m);
void bind_siht(nb::module_& m);
void bind_sofs(nb::module_& m);
void bind_stabilized(nb::module_& m);
void bind_streams(nb::module_& m);

}  // namespace streamsieve
