#include "bind.hpp"

namespace streamsieve {

void bind_penalized(nb::module_&) {}

}  // namespace streamsieve
