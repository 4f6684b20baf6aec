#include "bind.hpp"

namespace streamsieve {

void bind_fsa(nb::module_&) {}

}  // namespace streamsieve
