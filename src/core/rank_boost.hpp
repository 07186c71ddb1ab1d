// RankBoost without a list of pairs: the weight of a pair is a product of one factor an object.
#pragma once

#include "core/groups.hpp"

namespace prefero {

// Writes for each object the total weight of its pairs with worse objects minus that with
// better ones, where a pair weighs exp(s_worse - s_better); returns the weight of all pairs.
// `by_level` lists the rows of each group from best to worst; level 0 is best.
double pair_potential(const double* scores, const std::int64_t* levels,
                      const std::int64_t* by_level, Groups groups, double* potential);

// A weak ranker: 1 where the code of an attribute exceeds a bin, else 0; objects whose value
// is missing get `missing`; bin -1 tells defined values from missing ones. `gain` is the sum of the
// potentials of the objects it ranks 1.
struct WeakRanker {
    std::int64_t attribute = -1;
    std::int64_t bin = 0;
    bool missing = false;
    double gain = 0;
};

// Attribute codes, one row an attribute; attribute k has codes 0..bins[k] - 1 and the code
// bins[k] for a missing value.
template <typename Code>
struct CodedAttributes {
    const Code* codes;
    const std::int64_t* bins;
    std::size_t attributes;
    std::size_t objects;
};

// Whether every code is one that its attribute has.
template <typename Code>
bool codes_inside(CodedAttributes<Code> table);

// The weak ranker with the largest absolute gain; the first of equals.
template <typename Code>
WeakRanker best_weak_ranker(CodedAttributes<Code> table, const double* potential);

}  // namespace prefero
