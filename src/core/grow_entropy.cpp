#include "core/criteria/entropy.hpp"
#include "core/grow_task.hpp"

namespace prefero {

std::vector<Tree> grow_entropy(const GrowTask& task) {
    return grow_of_width<EntropyCriterion, 8>(task, task.data.width());
}

}  // namespace prefero
