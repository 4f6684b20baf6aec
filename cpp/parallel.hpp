// A loop over threads, without a pool: the work handed out takes milliseconds, starting a thread
// microseconds.
#pragma once
#include <thread>
#include <vector>

namespace streamsieve {

// f(0), ..., f(threads - 1), at the same time; f(0) on the calling thread.
template <class F>
void parallel(unsigned threads, F f) {
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back(f, t);
    f(0u);
    for (auto& other : others) other.join();
}

}  // namespace streamsieve
