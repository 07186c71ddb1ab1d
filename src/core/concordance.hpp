// How the columns of a table agree with the orders of its rows.
#pragma once

#include "core/groups.hpp"
#include "core/interruption.hpp"

namespace prefero {

// Kendall's tau-a and, of Spearman's, rho-a are divided by what they reach without any ties: a tied
// pair counts nothing. Tau-b and rho (the correlation of mean ranks) are divided by what they could
// reach with the ties of both orders.
enum class Correlation { kTauA, kTauB, kRhoA, kSpearman };

// Adds to sums[k] the rank correlations, over all groups, between the positions of the objects
// and their order by descending value in column k. A difference of at most tolerance[k] is a
// tie; a column or an order that ties all objects of a group counts nothing there.
void add_concordance(const double* values, std::size_t columns, const double* positions,
                     Groups groups, const double* tolerance, Correlation correlation, double* sums,
                     Interruption& interruption);

}  // namespace prefero
