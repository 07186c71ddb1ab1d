#include "core/forest.hpp"

#include "core/criteria/mallows_em.hpp"
#include "core/criteria/variance.hpp"
#include "core/grow_task.hpp"

namespace prefero {

std::vector<Tree> grow_trees(const TrainingData& data, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count,
                             Interruption& interruption) {
    const GrowTask task{data, options, seeds, count, interruption};
    switch (data.criterion()) {
        case CriterionKind::kMallows:
            return grow_mallows(task);
        case CriterionKind::kMallowsEm:
            return grow_with<MallowsEmCriterion>(task);
        case CriterionKind::kEntropy:
            return grow_entropy(task);
        case CriterionKind::kVariance:
            return grow_with<VarianceCriterion>(task);
        default:
            return grow_spread(task);
    }
}

}  // namespace prefero
