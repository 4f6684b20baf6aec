#include "bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";
    streamsieve::bind_averages(m);
    streamsieve::bind_fsa(m);
    streamsieve::bind_learners(m);
    streamsieve::bind_penalized(m);
    streamsieve::bind_sfsa(m);
    streamsieve::bind_sgd(m);
    streamsieve::bind_siht(m);
}
