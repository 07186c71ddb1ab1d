// Calibrated rankings of many neighbours, averaged around their virtual labels.
#pragma once

#include "core/aggregate.hpp"
#include "core/interruption.hpp"
#include "core/rank_row.hpp"

namespace prefero {

// For each set and label two weighted means over the rows of the set that know the label: of its
// offset from the virtual label (negative is relevant, NaN unknown), and of its side, -1 or +1.
// A virtual label of width p moves a label p / 2 further out on its side, so the mean for any p
// is mean_offset + p / 2 * mean_side: the virtual labels are never written out.
// Both means are NaN where no row with a weight knows the label.
void mean_offsets(RankMatrix offsets, Neighborhoods sets, double* mean_offset, double* mean_side,
                  Interruption& interruption);

}  // namespace prefero
