// Kernels run without the interpreter lock, and Ctrl-C ends them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "core/interruption.hpp"

namespace prefero::bindings {

// Only the main thread may handle signals. A thread beside it ends when `stop` becomes true, which
// whoever started the threads sets when the main one was interrupted. The Python exception is set
// before the kernel throws Interrupted.
class Unlocked final : public Interruption {
  public:
    explicit Unlocked(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kPause{50};

    bool wanted() noexcept override {
        const bool stopped = stop_ && stop_->load(std::memory_order_relaxed);
        if (!stopped && Clock::now() < next_) return false;
        const nanobind::gil_scoped_acquire locked;
        if (stopped) PyErr_SetNone(PyExc_KeyboardInterrupt);
        next_ = Clock::now() + kPause;
        return stopped || PyErr_CheckSignals() != 0;
    }

    const std::atomic<bool>* stop_;
    Clock::time_point next_ = Clock::now() + kPause;
    nanobind::gil_scoped_release released_;
};

// Objects that change serve one thread at a time. Kernels run without the interpreter lock, so it
// does not keep a second thread out: it is refused.
class OneThread {
  public:
    explicit OneThread(std::atomic<bool>& busy) : busy_(busy) {
        if (busy_.exchange(true)) throw std::runtime_error("another thread is using this object");
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;
    ~OneThread() { busy_ = false; }

  private:
    std::atomic<bool>& busy_;
};

}  // namespace prefero::bindings
