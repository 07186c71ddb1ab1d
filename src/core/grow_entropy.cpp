#include "core/criteria/entropy.hpp"
#include "core/grow_task.hpp"

namespace prefero {

void grow_entropy(const GrowTask& task) {
    // The pairs of up to 11 labels; of none of these numbers do they fill seven blocks.
    grow_of_width<EntropyCriterion, 1, 2, 3, 4, 5, 6, 8>(task, task.data.width());
}

}  // namespace prefero
