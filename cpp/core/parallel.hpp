// A loop over threads, without a pool: the work handed out takes milliseconds, starting a thread
// microseconds. Work that is shorter than that goes into one loop, in which the threads meet.
#pragma once
#include <atomic>
#include <cstddef>
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

// Where threads meet. They look for each other a while before they sleep.
class Meeting {
  public:
    explicit Meeting(unsigned threads) : threads_(threads) {}
    void wait() {
        if (threads_ == 1) return;
        const unsigned round = round_.load(std::memory_order_acquire);
        if (there_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            there_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            round_.notify_all();
            return;
        }
        for (int look = 0; look < 20'000; ++look)
            if (round_.load(std::memory_order_acquire) != round) return;
        while (round_.load(std::memory_order_acquire) == round) round_.wait(round);
    }

  private:
    unsigned threads_;
    alignas(128) std::atomic<unsigned> there_{0};
    alignas(128) std::atomic<unsigned> round_{0};
};

// Where the share of thread t begins.
inline std::ptrdiff_t share(std::ptrdiff_t n, unsigned t, unsigned threads) {
    return n * std::ptrdiff_t(t) / std::ptrdiff_t(threads);
}

}  // namespace streamsieve
