#include "core/bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";
    streamsieve::Binding::add_all(m);
}
