// Growing the trees of a forest by one criterion; compiled criterion by criterion.
#pragma once

#include <vector>

#include "core/forest.hpp"
#include "core/grow.hpp"

namespace prefero {

// What trees are grown from.
struct GrowTask {
    const TrainingData& data;
    const GrowOptions& options;
    const std::uint64_t* seeds;
    std::size_t trees;
    Interruption& interruption;
};

std::vector<Tree> grow_spread(const GrowTask& task);
std::vector<Tree> grow_mallows(const GrowTask& task);
std::vector<Tree> grow_entropy(const GrowTask& task);

template <class Criterion>
std::vector<Tree> grow_with(const GrowTask& task) {
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

// Picks the version compiled for this number of blocks, up to Width of them.
template <template <std::size_t> class Criterion, std::size_t Width>
std::vector<Tree> grow_of_width(const GrowTask& task, std::size_t width) {
    if constexpr (Width > 0) {
        if (width != Width) return grow_of_width<Criterion, Width - 1>(task, width);
    }
    return grow_with<Criterion<Width>>(task);
}

}  // namespace prefero
