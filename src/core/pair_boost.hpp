// Boosted regression trees on the pair loss of the ranking SVM.
#pragma once

#include "core/forest.hpp"
#include "core/groups.hpp"
#include "core/interruption.hpp"

namespace prefero {

struct PairBoosting {
    double learning_rate;
    Search search;
    Stopping stopping;
};

// One tree per seed, fewer once every pair is told apart by the margin. Each is fitted to the
// Newton steps of the objects, weighted by their active pairs, and learning_rate times its leaf
// is added to an object's score. Level 0 is the best place of a group; equal levels are tied. A
// pair weighs the product of its objects' weights.
std::vector<Tree> boost_pairs(BinMatrix bins, const std::int64_t* levels, const double* weights,
                              Groups groups, const std::vector<std::uint64_t>& seeds,
                              const PairBoosting& options, Interruption& interruption);

}  // namespace prefero
