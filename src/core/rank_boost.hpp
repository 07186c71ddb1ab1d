// RankBoost without a list of pairs: the weight of a pair is a product of one factor per object.
#pragma once

#include <limits>
#include <vector>

#include "core/groups.hpp"
#include "core/interruption.hpp"

namespace prefero {

// Objects as codes of their attributes: row after row, attribute k in 0..bins[k] - 1, and the
// largest code there is where the value is missing.
template <typename Code>
struct CodedObjects {
    static constexpr Code kMissing = std::numeric_limits<Code>::max();

    const Code* codes;
    const std::int64_t* bins;
    std::size_t objects, attributes;
};

// Sample orders of the objects: each group's rows from best to worst; equal positions are tied. A
// pair weighs the product of its objects' weights.
struct RankedRows {
    const double* positions;
    const double* weights;
    Groups groups;
};

template <typename Code>
struct BoostingSet {
    CodedObjects<Code> table;
    RankedRows orders;
};

// Adds `weight` to the score of the objects whose code exceeds `bin` and, if `missing`, of those
// without a code; bin -1 tells defined values from missing ones.
struct WeakRanker {
    std::int64_t attribute = -1;
    std::int64_t bin = 0;
    bool missing = false;
    double weight = 0;
};

struct BoostingRounds {
    std::size_t most;
    double learning_rate;
    std::size_t patience;  // rounds without a smaller loss of the held-out pairs before the end
};

// Whether every code is missing or one that its attribute has.
template <typename Code>
bool codes_inside(const CodedObjects<Code>& table);

// The weak rankers of all rounds: each separates the weighted pairs best, the first of equals.
// Without held-out groups all rounds are kept, else those up to the smallest held-out loss.
template <typename Code>
std::vector<WeakRanker> rank_boost(const BoostingSet<Code>& train, const BoostingSet<Code>& held,
                                   const BoostingRounds& rounds, Interruption& interruption);

}  // namespace prefero
