// Calibrated rankings of many neighbours, averaged around their zero points.
#pragma once

#include <cstdint>

#include "core/rank_row.hpp"

namespace prefero {

// For each query the rows of its neighbours, k after k, and what each is worth.
struct Neighborhoods {
    const std::int64_t* rows;
    const double* weights;
    std::size_t queries;
    std::size_t neighbors;
};

// For each query and label two weighted means over the neighbours that know the label: of its
// offset from the zero point (negative is relevant, NaN unknown), and of its side, -1 or +1.
// A zero point of width p moves a label p / 2 further out on its side, so the mean for any p
// is mean_offset + p / 2 * mean_side: the virtual labels are never written out.
// Both means are NaN where no neighbour with a weight knows the label.
void mean_offsets(RankMatrix offsets, Neighborhoods near, double* mean_offset, double* mean_side);

}  // namespace prefero
