// A loop over threads, without a pool: the work handed out takes milliseconds, starting a thread
// microseconds. Work that is shorter than that goes into one loop, in which the threads meet.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace streamsieve {

// The first exception of several threads, for the one that waits for them: what leaves a thread ends the
// process.
class FirstError {
  public:
    // Whether f() went well.
    template <class F>
    bool guard(const F& f) noexcept {
        try {
            f();
            return true;
        } catch (...) {
            if (!taken_.test_and_set()) error_ = std::current_exception();
            return false;
        }
    }
    // Once the threads have ended.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::atomic_flag taken_;
    std::exception_ptr error_;
};

// Starts f(1), ..., f(threads - 1), as far as there is memory for threads; f must not throw.
template <class F>
std::vector<std::thread> start_threads(unsigned threads, const F& f) noexcept {
    std::vector<std::thread> started;
    try {
        started.reserve(threads - 1);
        for (unsigned t = 1; t < threads; ++t) started.emplace_back(f, t);
    } catch (...) {  // the caller counts them
    }
    return started;
}

// f(0), ..., f(threads - 1), at the same time; f(0) on the calling thread, and so are those whose thread
// cannot be started. When all have ended, what the first of them threw is thrown.
template <class F>
void parallel(unsigned threads, F f) {
    if (threads <= 1) return f(0u);
    FirstError error;
    const auto guarded = [&](unsigned t) { error.guard([&] { f(t); }); };
    auto others = start_threads(threads, guarded);
    guarded(0);
    for (unsigned t = unsigned(others.size()) + 1; t < threads; ++t) guarded(t);
    for (auto& other : others) other.join();
    error.rethrow();
}

// The same for threads that meet, and must all be there: false, and nothing has been done, where they cannot
// all be started. f must not throw.
template <class F>
bool parallel_meeting(unsigned threads, F f) {
    enum { closed, open, cancelled };
    std::atomic<int> gate{closed};
    auto others = start_threads(threads, [&](unsigned t) {
        gate.wait(closed);
        if (gate.load() == open) f(t);
    });
    const bool complete = others.size() + 1 == threads;
    gate.store(complete ? open : cancelled);
    gate.notify_all();
    if (complete) f(0u);
    for (auto& other : others) other.join();
    return complete;
}

// Where threads meet. They look for each other a while before they sleep.
class Meeting {
  public:
    explicit Meeting(unsigned threads) : threads_(threads) {}
    // While nobody waits.
    void reset(unsigned threads) { threads_ = threads; }
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
