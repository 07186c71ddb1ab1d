// The first steps of many rows down a tree, without a read from memory for a bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bins.hpp"

namespace prefero {

// Sixteen rows together, feature after feature: a register holds four features of them.
class TurnedBins {
  public:
    static constexpr std::size_t kRows = 16;
    static constexpr std::size_t kAtOnce = 64;  // rows that step together; others fill up
    static constexpr std::size_t kFewestSteps = 6;

    // Whether this processor can use them, and rows are narrow enough to gain by it.
    static bool useful(std::size_t features);

    explicit TurnedBins(BinMatrix bins);

    // The bins of sixteen rows, from a multiple of sixteen on.
    const std::uint8_t* from(std::size_t row) const { return data_.data()->bytes + row * room_; }
    // How many features there is room for.
    std::size_t room() const { return room_; }

  private:
    struct alignas(64) Register {
        std::uint8_t bytes[64];
    };

    std::size_t features_, room_;
    std::vector<Register> data_;
};

// A tree as in Paths.
struct Steps {
    const std::uint32_t* words;
    unsigned shift;
};

// Rows one after the other: as many as kAtOnce divides.
struct FirstRows {
    std::size_t first, count;
};

// Takes so many steps, kFewestSteps at least, and writes the nodes where rows are; then the numbers
// of those that have not arrived, counted from the first, and returns behind the last. Where these
// are written there must be room for sixteen more than there are rows.
std::uint16_t* first_steps(const Steps& tree, const TurnedBins& bins, const FirstRows& rows,
                           std::size_t steps, std::int32_t* nodes, std::uint16_t* still);

}  // namespace prefero
