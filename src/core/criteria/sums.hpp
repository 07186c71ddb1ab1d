// Sums of rows that criteria share.
//
// A criterion offers the grower
//   enter(rows, n)      look at a node; then pure(), weight()
//   start()             nothing is left of the cut
//   push(left, row)     move a row to the left
//   quality(left)       how good the cut here is; larger is better
//   note(left)          the cut here is the best of its feature so far
//   accepts(quality)    whether the best cut of a feature may be made
//   decrease(quality)   weight times what the cut gains
#pragma once

#include <vector>

#include "core/sample.hpp"
#include "core/stopping.hpp"

namespace prefero {

using Blocks = std::vector<Block>;

PREFERO_INLINE void add_all(Block* sums, const Block* lanes, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) add(sums[k], lanes[k]);
}

PREFERO_INLINE void clear_all(Block* sums, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) store(sums[k], broadcast(0));
}

// Whether no two of the rankings whose signs are summed put a pair of labels in different
// orders: then no sum is smaller than the number of its terms. `unit` is the number of pairs.
PREFERO_INLINE bool consistent(const Block* sums, std::size_t width, double unit) {
    Eight lengths = broadcast(0);
    for (std::size_t k = 0; k < width; ++k) lengths += magnitude(load(sums[k]));
    const float weight = sums->lane[kWeightLane], length = sums->lane[kLengthLane];
    return sum(lengths) - weight - length >= static_cast<float>(unit) * length * (1 - 1e-6f);
}

}  // namespace prefero
