#include "core/forest.hpp"

#include "core/criteria/mallows_em.hpp"
#include "core/grow_task.hpp"

namespace prefero {

void grow_trees(const TrainingData& data, const GrowOptions& options, const std::uint64_t* seeds,
                std::size_t count, Interruption& interruption, const TakeTree& take) {
    const GrowTask task{data, options, seeds, count, interruption, take};
    switch (data.criterion()) {
        case CriterionKind::kMallows:
            return grow_mallows(task);
        case CriterionKind::kMallowsEm:
            return grow_with<MallowsEmCriterion>(task);
        case CriterionKind::kEntropy:
            return grow_entropy(task);
        default:  // vectors, or numbers, which are vectors of one value
            return grows_whole_spread(task) ? grow_whole_spread(task) : grow_spread(task);
    }
}

std::vector<Tree> grow_trees(const TrainingData& data, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count,
                             Interruption& interruption) {
    std::vector<Tree> trees;
    trees.reserve(count);
    grow_trees(data, options, seeds, count, interruption,
               [&](Tree& tree) { trees.push_back(std::move(tree)); });
    return trees;
}

}  // namespace prefero
