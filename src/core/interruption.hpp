// How a long loop is ended from outside.
#pragma once

#include <cstddef>

namespace prefero {

// What a kernel throws when its caller wants it to end.
struct Interrupted {};

// A loop says now and then how much it has done since. Every few milliseconds that asks the
// caller whether to go on. One object serves one call of a kernel.
class Interruption {
  public:
    virtual ~Interruption() = default;

    // Steps take about a nanosecond.
    void spend(std::size_t steps) {
        if (stops(steps)) throw Interrupted{};
    }

    // The same for functions compiled for several processors, which nothing can be thrown through:
    // says whether to end.
    bool stops(std::size_t steps) {
        if (steps < left_) {
            left_ -= steps;
            return false;
        }
        left_ = kSteps;
        return wanted();
    }

  private:
    static constexpr std::size_t kSteps = std::size_t{1} << 20;

    virtual bool wanted() noexcept = 0;

    std::size_t left_ = kSteps;
};

// For callers that wait until the end.
class Uninterrupted final : public Interruption {
    bool wanted() noexcept override { return false; }
};

}  // namespace prefero
