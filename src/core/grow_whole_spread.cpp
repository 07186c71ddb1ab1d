#include "core/criteria/spread.hpp"
#include "core/grow_task.hpp"

namespace prefero {

namespace {

template <std::size_t Width>
using WholeSpread = Spread<Width, true>;

}  // namespace

bool grows_whole_spread(const GrowTask& task) {
    const Stopping& stopping = task.options.stopping;
    return Sample::better_in_shorts(task.data) && !task.data.any_categorical() &&
           !task.options.search.random_cuts && stopping.min_leaf <= 1 && !(stopping.gamma > 0);
}

void grow_whole_spread(const GrowTask& task) {
    // Vectors of a single block are as fast in floats.
    grow_of_width<WholeSpread, 2, 3, 4, 5, 6, 7, 8>(task, task.data.width());
}

}  // namespace prefero
