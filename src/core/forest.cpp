#include "core/forest.hpp"

#include "core/criteria/entropy.hpp"
#include "core/criteria/mallows.hpp"
#include "core/criteria/mallows_em.hpp"
#include "core/criteria/spread.hpp"
#include "core/criteria/variance.hpp"
#include "core/grow.hpp"

namespace prefero {

namespace {

// What trees are grown from.
struct Task {
    const TrainingData& data;
    const GrowOptions& options;
    const std::uint64_t* seeds;
    std::size_t trees;
    Interruption& interruption;
};

template <class Criterion>
std::vector<Tree> grow_with(const Task& task) {
    Sample sample(task.data);
    Criterion criterion(sample, task.options.stopping);
    Grower<Criterion> grower(sample, criterion, task.options, task.interruption);
    std::vector<Tree> trees;
    trees.reserve(task.trees);
    for (std::size_t t = 0; t < task.trees; ++t) {
        sample.draw(task.options.bootstrap, task.seeds[t], task.interruption);
        // Another stream than the one that drew the sample.
        trees.push_back(grower.grow(~task.seeds[t]));
    }
    return trees;
}

// Picks the version compiled for this number of blocks.
template <std::size_t Width = 8>
std::vector<Tree> grow_spread(const Task& task) {
    if constexpr (Width > 0) {
        if (task.data.width() != Width) return grow_spread<Width - 1>(task);
    }
    return grow_with<Spread<Width>>(task);
}

}  // namespace

std::vector<Tree> grow_trees(const TrainingData& data, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count,
                             Interruption& interruption) {
    const Task task{data, options, seeds, count, interruption};
    switch (data.criterion()) {
        case CriterionKind::kMallows:
            return grow_with<MallowsCriterion>(task);
        case CriterionKind::kMallowsEm:
            return grow_with<MallowsEmCriterion>(task);
        case CriterionKind::kEntropy:
            return grow_with<EntropyCriterion>(task);
        case CriterionKind::kVariance:
            return grow_with<VarianceCriterion>(task);
        default:
            return grow_spread(task);
    }
}

}  // namespace prefero
