#include "core/criteria/entropy.hpp"
#include "core/grow_task.hpp"

namespace prefero {

void grow_entropy(const GrowTask& task) {
    grow_of_width<EntropyCriterion, 8>(task, task.data.width());
}

}  // namespace prefero
