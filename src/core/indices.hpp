// Whether arrays of indices stay inside what they point to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prefero {

// Whether all indices lie in 0..bound-1.
bool all_below(const std::int32_t* indices, std::size_t count, std::size_t bound);
bool all_below(const std::int64_t* indices, std::size_t count, std::size_t bound);

// Whether the starts ascend from 0 to `end`: part k lies from starts[k] to starts[k + 1].
bool valid_starts(const std::int64_t* starts, std::size_t count, std::size_t end);

}  // namespace prefero
