#include "core/indices.hpp"

#include <algorithm>
#include <limits>

namespace prefero {

namespace {

// Without a branch, so that the loop vectorises: only an index outside has a sign bit here.
template <typename Index>
bool below(const Index* indices, std::size_t count, std::size_t bound) {
    constexpr std::size_t kMost = std::numeric_limits<Index>::max();
    if (bound == 0) return count == 0;
    const auto last = static_cast<Index>(std::min(bound - 1, kMost));
    Index outside = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Index index = indices[i];
        outside |= index | (index > last ? Index{-1} : Index{0});
    }
    return outside >= 0;
}

}  // namespace

bool all_below(const std::int32_t* indices, std::size_t count, std::size_t bound) {
    return below(indices, count, bound);
}

bool all_below(const std::int64_t* indices, std::size_t count, std::size_t bound) {
    return below(indices, count, bound);
}

bool valid_starts(const std::int64_t* starts, std::size_t count, std::size_t end) {
    return count > 0 && starts[0] == 0 && std::is_sorted(starts, starts + count) &&
           starts[count - 1] == static_cast<std::int64_t>(end);
}

}  // namespace prefero
