// From a training set to a tree, with the criterion chosen at run time.
#pragma once

#include "core/rank_row.hpp"
#include "core/sample.hpp"
#include "core/stopping.hpp"
#include "core/tree.hpp"

namespace prefero {

enum class CriterionKind { kKendall, kSpearman, kMallows, kEntropy };

struct Search {
    std::size_t max_features;  // features tried at a node
    bool random_cuts;          // one random cut a feature (extra-trees) in place of the best
    bool category_sets;        // sets of categories in place of one against the rest
};

struct GrowOptions {
    CriterionKind criterion;
    bool bootstrap;
    Search search;
    Stopping stopping;
};

// The blocks that hold a row of the criterion's vectors.
std::size_t lane_width(CriterionKind criterion, std::size_t labels);

// Rankings as the criterion sums them: rows x lane_width blocks, zero before the call.
void write_lanes(CriterionKind criterion, RankMatrix ranks, Block* lanes);

// A tree a seed.
std::vector<Tree> grow_trees(const TrainingSet& set, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count);

}  // namespace prefero
