// The criterion of regression trees: how much less the numbers of the rows vary around the means
// of two children than around their own.
#pragma once

#include "core/criteria/spread.hpp"

namespace prefero {

// Numbers are vectors of one lane, which a single block holds.
class VarianceCriterion : public Spread<1> {
    static_assert(kVectorLane < kLanes, "a number must fit the first block");

  public:
    using Spread::Spread;
};

}  // namespace prefero
