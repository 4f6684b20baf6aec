// Reads a heap of learners/heap.py.
#pragma once
#include "core/fields.hpp"
#include "core/heap.hpp"

namespace streamsieve {

template <class Heap>
Heap read_heap(Fields heap, std::int32_t* place) {
    const auto entry = heap.records<Ranked>("entry");
    return {entry.data(), heap.vector<std::int64_t>("size").data(), Index(entry.size()), place};
}

}  // namespace streamsieve
