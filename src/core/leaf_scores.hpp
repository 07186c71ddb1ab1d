// Adding up what the leaves of trees say.
#pragma once

#include "core/tree.hpp"

namespace prefero {

// The leaves that some rows reach in a few trees, tree after tree.
struct LeafBlock {
    static constexpr std::size_t kMostTrees = 4;

    std::size_t first_row, rows, first_tree, trees;
    const std::int32_t* leaves;
    const std::uint32_t* numbers = nullptr;  // of the rows, if they do not follow each other

    std::size_t number(std::size_t row) const { return first_row + (numbers ? numbers[row] : row); }
    std::int32_t leaf(std::size_t tree, std::size_t row) const { return leaves[tree * rows + row]; }
};

// Adds the scores of leaves, tree after tree, to the sums of their rows: rows x labels.
void add_scores(const Forest& forest, const LeafBlock& block, double* sums);

}  // namespace prefero
