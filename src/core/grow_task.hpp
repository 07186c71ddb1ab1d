// Growing the trees of a forest by one criterion; compiled criterion by criterion.
#pragma once

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
    const TakeTree& take;
};

void grow_spread(const GrowTask& task);

// The same in half of the memory, where vectors are whole numbers and only best cuts are asked for.
bool grows_whole_spread(const GrowTask& task);
void grow_whole_spread(const GrowTask& task);

void grow_mallows(const GrowTask& task);
void grow_entropy(const GrowTask& task);

template <class Criterion>
void grow_with(const GrowTask& task) {
    Sample sample(task.data, Criterion::kCutsAlone);
    Criterion criterion(sample, task.options.stopping);
    Grower<Criterion> grower(sample, criterion, task.options, task.interruption);
    for (std::size_t t = 0; t < task.trees; ++t) {
        sample.draw(task.options.bootstrap, task.seeds[t], task.interruption);
        // Another stream than the one that drew the sample.
        task.take(grower.grow(~task.seeds[t]));
    }
}

// Picks the version compiled for this number of blocks, if it is one of Widths; else that of any.
template <template <std::size_t> class Criterion, std::size_t... Widths>
void grow_of_width(const GrowTask& task, std::size_t width) {
    const bool known = ((width == Widths && (grow_with<Criterion<Widths>>(task), true)) || ...);
    if (!known) grow_with<Criterion<0>>(task);
}

}  // namespace prefero
