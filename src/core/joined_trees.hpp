// Trees one after the other in arrays, as they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/growing.hpp"
#include "core/tree.hpp"

namespace prefero {

// Takes trees while others still grow, so that there need not be room for all of them twice.
class JoinedTrees {
  public:
    // So many trees with leaves of so many scores will come.
    JoinedTrees(std::size_t trees, std::size_t labels) : trees_(trees), labels_(labels) {}

    void add(const Tree& tree);

    // Where the nodes, the leaves and the sets of each tree begin, and the end of the last.
    std::vector<std::int64_t> node_starts{0}, value_starts{0}, set_starts{0};
    Growing<Node> nodes;
    Growing<double> weight;
    Growing<float> decrease;
    Growing<std::int32_t> sets;  // as many as nodes, or none if no tree has sets
    Growing<BinSet> categories;
    Growing<float> scores, comparisons;

  private:
    void make_room(const Tree& first);
    void add_sets(const Tree& tree);

    std::size_t trees_, labels_;
};

}  // namespace prefero
