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
};

}  // namespace prefero
