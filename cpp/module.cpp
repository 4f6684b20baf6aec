#include <new>

#include "core/bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";
    nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const std::bad_alloc&) {
            PyErr_SetString(
                PyExc_MemoryError,
                "out of memory in a compiled kernel; pass fewer rows a call, or use fewer threads "
                "(OMP_NUM_THREADS)");
        }
    });
    streamsieve::Binding::add_all(m);
}
