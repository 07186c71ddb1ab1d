// The greedy order of Cohen, Schapire & Singer: who is preferred most to the rest comes next.
#pragma once

#include "core/groups.hpp"
#include "core/interruption.hpp"

namespace prefero {

// Writes the place 1..L of each object of each group. The preference of u to v is the sum of
// weights[k] times the sign of u's value minus v's in column k. Equal potentials: first row.
void greedy_order(const double* values, std::size_t columns, const double* weights, Groups groups,
                  std::int64_t* places, Interruption& interruption);

}  // namespace prefero
