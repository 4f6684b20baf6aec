#include "bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";
    streamsieve::bind_averages(m);
    streamsieve::bind_bamd(m);
    streamsieve::bind_barda(m);
    streamsieve::bind_fsa(m);
    streamsieve::bind_learners(m);
    streamsieve::bind_olst(m);
    streamsieve::bind_ofs(m);
    streamsieve::bind_penalized(m);
    streamsieve::bind_regularised(m);
    streamsieve::bind_sfsa(m);
    streamsieve::bind_sgd(m);
    streamsieve::bind_sieve(m);
    streamsieve::bind_siht(m);
    streamsieve::bind_sofs(m);
    streamsieve::bind_stabilized(m);
    streamsieve::bind_streams(m);
}
