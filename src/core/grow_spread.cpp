#include "core/criteria/spread.hpp"
#include "core/grow_task.hpp"

namespace prefero {

void grow_spread(const GrowTask& task) {
    grow_of_width<Spread, 1, 2, 3, 4, 5, 6, 7, 8>(task, task.data.width());
}

}  // namespace prefero
