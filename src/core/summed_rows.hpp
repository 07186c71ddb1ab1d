// Statistics of rows that are added up, so that trees can be grown from rows in many places:
// whoever holds some of the rows adds up what the open nodes of a tree ask for, bin by bin. Sums
// are doubles, of any number of rows.
#pragma once

#include "core/bins.hpp"
#include "core/interruption.hpp"

namespace prefero {

// The first statistics of a row, whatever the criterion.
constexpr std::size_t kWeightSum = 0;
constexpr std::size_t kExampleSum = 1;

// Marks the place of a feature that a node does not ask for.
constexpr std::uint16_t kNoFeature = 65535;

// The nodes that ask for histograms, each of as many features as the others at most.
struct AskingNodes {
    const std::int32_t* places;     // of the leaves of the tree so far: among the nodes, or -1
    const std::uint16_t* features;  // nodes x asked
    std::size_t asked;
};

// Rows and their statistics; a row counts as often as it was drawn.
template <class Number>
struct SummedRows {
    BinMatrix bins;
    const Number* statistics;  // rows x stride, of which the first `width` are summed
    std::size_t stride, width;
    const std::uint16_t* drawn;
    const std::int32_t* leaves;  // of the tree so far
};

// Adds to sums: nodes x asked x bins x width.
template <class Number>
void add_histograms(const SummedRows<Number>& rows, AskingNodes nodes, double* sums,
                    Interruption& interruption);

// Adds the statistics of rows to those of their leaves: leaves x width.
template <class Number>
void add_leaves(const SummedRows<Number>& rows, double* sums, Interruption& interruption);

}  // namespace prefero
