// Rows that belong together: row starts[g] up to starts[g + 1] are the objects of group g.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prefero {

struct Groups {
    const std::int64_t* starts;
    std::size_t count;

    std::size_t begin(std::size_t group) const { return static_cast<std::size_t>(starts[group]); }
    std::size_t size(std::size_t group) const {
        return static_cast<std::size_t>(starts[group + 1] - starts[group]);
    }
};

}  // namespace prefero
