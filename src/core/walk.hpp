// Walking down trees, many rows together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/first_steps.hpp"
#include "core/tree.hpp"

namespace prefero {

// Rows that walk down trees. Those that walk down many are turned first, if all of them do.
class WalkingRows {
  public:
    WalkingRows(const Forest& forest, BinMatrix bins, Walking who);

    const BinMatrix& bins() const { return bins_; }
    // Whether no test is on categories and no value is missing.
    bool plain() const { return plain_; }
    const TurnedBins* turned() const { return turned_ ? &*turned_ : nullptr; }

  private:
    BinMatrix bins_;
    bool plain_;
    std::optional<TurnedBins> turned_;
};

// The leaf that each row reaches in a tree; that of a row whose entry of `drawn` is not 0 is left
// open, if there are such entries.
void leaves_of(const Forest& forest, std::size_t tree, const WalkingRows& rows,
               const std::uint16_t* drawn, std::int32_t* leaves);

}  // namespace prefero
