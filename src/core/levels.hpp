// Trees grown level by level from sums: whoever holds some of the rows adds up what the open nodes
// ask for, bin by bin; cuts are found in the totals. Sums are doubles, of any number of rows.
#pragma once

#include "core/interruption.hpp"
#include "core/scan.hpp"

namespace prefero {

// What stands in the first lanes of a row and of a bin, before the vector of a criterion.
constexpr std::size_t kLevelWeight = 0;
constexpr std::size_t kLevelExamples = 1;
constexpr std::size_t kLevelLength = 2;
constexpr std::size_t kLevelVector = 3;

// Marks the place of a feature that a node does not ask for.
constexpr std::uint16_t kNoFeature = 65535;

// The nodes of a level that ask for histograms, each of as many features as the others at most.
struct OpenNodes {
    const std::int32_t* places;     // of the leaves of the tree so far: among the nodes, or -1
    const std::uint16_t* features;  // nodes x asked
    std::size_t asked;
};

// Rows with what is summed of them; a row counts as often as it was drawn.
template <class Number>
struct LevelRows {
    BinMatrix bins;
    const Number* lanes;  // rows x stride, of which the first `width` are summed
    std::size_t stride, width;
    const std::uint16_t* drawn;
    const std::int32_t* leaves;
};

// Adds to sums: nodes x asked x bins x width.
template <class Number>
void add_histograms(const LevelRows<Number>& rows, OpenNodes open, double* sums,
                    Interruption& interruption);

// Adds the lanes of rows to those of their leaves: leaves x width.
template <class Number>
void add_leaves(const LevelRows<Number>& rows, double* sums, Interruption& interruption);

// The best cut of a feature in a node, by how much less the vectors spread around two means.
struct LevelCut {
    Cut cut;
    bool varies = false;  // whether there are rows in two bins
};

// Of one histogram, bins x width. `left` gets the sums of the rows that go left, if there is a cut.
LevelCut best_level_cut(const double* bins, std::size_t width, double min_leaf, double* left);

// The same for a nominal feature, whose bins are categories: `chosen` gets those that go left, one
// alone or, with `sets`, neighbours in their order.
LevelCut best_level_categories(const double* bins, std::size_t width, double min_leaf, bool sets,
                               double* left, BinSet& chosen);

// The places of categories on the line along which their means differ most, from sums in doubles:
// count x width, of which the first is the weight and those from `begin` to `end` the vector.
std::vector<std::size_t> order_of_categories(const double* sums, std::size_t count,
                                             std::size_t width, std::size_t begin, std::size_t end);

}  // namespace prefero
