// From training data to trees, with the criterion chosen at run time.
#pragma once

#include <functional>

#include "core/interruption.hpp"
#include "core/stopping.hpp"
#include "core/training_data.hpp"
#include "core/tree.hpp"

namespace prefero {

struct Search {
    std::size_t max_features;   // features tried at a node
    std::size_t tree_features;  // of so many that are drawn for a tree
    bool random_cuts;           // one random cut per feature (extra-trees) in place of the best
    bool category_sets;         // sets of categories in place of one against the rest
};

struct GrowOptions {
    bool bootstrap;
    Search search;
    Stopping stopping;
};

// What becomes of a tree. It may be moved from; the next one takes its place.
using TakeTree = std::function<void(Tree&)>;

// One tree per seed, by the criterion that the data are made for.
void grow_trees(const TrainingData& data, const GrowOptions& options, const std::uint64_t* seeds,
                std::size_t count, Interruption& interruption, const TakeTree& take);

// The same trees, all kept.
std::vector<Tree> grow_trees(const TrainingData& data, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count,
                             Interruption& interruption);

}  // namespace prefero
