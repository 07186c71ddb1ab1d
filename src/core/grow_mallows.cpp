#include "core/criteria/mallows.hpp"
#include "core/grow_task.hpp"

namespace prefero {

void grow_mallows(const GrowTask& task) {
    grow_of_width<MallowsCriterion, 1, 2, 3, 4, 5, 6>(task, task.data.width() / 2);
}

}  // namespace prefero
