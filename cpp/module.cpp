#include "bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";
    streamsieve::bind_averages(m);
    streamsieve::bind_fsa(m);
    streamsieve::bind_penalized(m);
}
