// What ranks of eight rows mean, side by side: as rank_row.hpp has it for one row.
#pragma once

#include "core/simd.hpp"

namespace prefero {

// One where a rank is known, else 0.
PREFERO_INLINE Eight known(const Eight& ranks) {
    return where_larger(ranks, broadcast(-1), broadcast(1), broadcast(0));
}

// +1 where a stands before b, -1 where after, 0 where tied or either is unknown.
PREFERO_INLINE Eight preferences(const Eight& a, const Eight& b) {
    const Eight one = broadcast(1), none = broadcast(0);
    return where_larger(b, a, one, none) - where_larger(a, b, one, none);
}

}  // namespace prefero
