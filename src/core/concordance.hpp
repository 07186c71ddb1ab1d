// How the columns of a table agree with the orders of its rows.
#pragma once

#include "core/groups.hpp"

namespace prefero {

enum class Correlation { kKendall, kSpearman };

// Adds to sums[k] the rank correlations, over all groups, between the positions of the objects
// and their order by descending value in column k. A difference of at most tolerance[k] is a
// tie, and a tie counts nothing: both measures are divided by their largest value without ties.
void add_concordance(const double* values, std::size_t columns, const double* positions,
                     Groups groups, const double* tolerance, Correlation correlation, double* sums);

}  // namespace prefero
