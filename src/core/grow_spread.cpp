#include "core/criteria/spread.hpp"
#include "core/grow_task.hpp"

namespace prefero {

std::vector<Tree> grow_spread(const GrowTask& task) {
    return grow_of_width<Spread, 8>(task, task.data.width());
}

}  // namespace prefero
