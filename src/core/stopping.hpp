// When a tree stops growing.
#pragma once

#include <cstddef>

namespace prefero {

struct Stopping {
    std::size_t max_depth;
    std::size_t min_split;    // examples a node must have to be split
    std::size_t min_leaf;     // examples a child must have
    std::size_t max_leaves;   // 0: no bound, and nodes are split depth first
    double min_decrease;      // of the criterion, weighted by the node's share
    double gamma;             // split only if gamma (1 + children) > 1 + node; 0: no such rule
    bool description_length;  // split only if the MDLPC of Fayyad & Irani accepts

    // Whether a node at this depth, of so many examples, may be split.
    template <class Number>
    bool may_split(std::size_t depth, Number examples) const {
        return depth < max_depth && examples >= static_cast<Number>(min_split) &&
               examples >= static_cast<Number>(2 * min_leaf);
    }

    bool enough(double decrease, double root_weight) const {
        return !(min_decrease > 0 && decrease < min_decrease * root_weight);
    }
};

}  // namespace prefero
