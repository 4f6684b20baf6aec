#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace streamsieve {

using Bind = void(nb::module_&);  // each is the end of the .cpp file of its name

Bind bind_core;
Bind bind_cholesky, bind_coordinate, bind_fsa, bind_gram;
Bind bind_ftrl_proximal, bind_olst, bind_sfsa, bind_sgd, bind_siht;
Bind bind_bamd, bind_barda, bind_ofs, bind_sofs;
Bind bind_adafobos, bind_fobos, bind_l1arda, bind_rda, bind_sadmm, bind_truncated_gradient;
Bind bind_stabilized;
Bind bind_sieve;
Bind bind_text;

}  // namespace streamsieve

NB_MODULE(_core, m) {
    using namespace streamsieve;
    m.doc() = "Compiled kernels of streamsieve: stateless functions over NumPy arrays.";

    // core/
    bind_core(m);

    // averages/
    bind_gram(m);
    bind_cholesky(m);
    bind_coordinate(m);
    bind_fsa(m);

    // learners/
    bind_sgd(m);
    bind_siht(m);
    bind_sfsa(m);
    bind_olst(m);
    bind_ftrl_proximal(m);
    bind_barda(m);
    bind_bamd(m);
    bind_ofs(m);
    bind_sofs(m);
    bind_fobos(m);
    bind_rda(m);
    bind_truncated_gradient(m);
    bind_adafobos(m);
    bind_l1arda(m);
    bind_sadmm(m);
    bind_stabilized(m);

    // sieve/
    bind_sieve(m);

    // text/
    bind_text(m);
}
