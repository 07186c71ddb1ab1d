// A tree while it grows, whoever finds its splits.
#pragma once

#include <limits>
#include <vector>

#include "core/tree.hpp"

namespace prefero {

// Rows of bins up to `left` go left, from `right` on right; no row of the node lies between.
struct Cut {
    float quality = -std::numeric_limits<float>::infinity();
    std::uint8_t left = 0, right = 0;
    bool missing_left = false;
    bool missing_seen = false;  // whether there are rows of the missing bin
};

// The last bin that goes left at a cut: half way between the bins of the node's rows, or behind all
// bins of known values if only missing ones go right.
inline std::uint8_t last_bin_left(const Cut& cut) {
    const int right = cut.right == kMissingBin ? 2 * (kMissingBin - 1) - cut.left : cut.right;
    return static_cast<std::uint8_t>((cut.left + right) / 2);
}

// How a node is split. Few bytes: the categories that go left are kept elsewhere.
struct Split {
    std::uint16_t feature = 0;
    bool categorical = false;
    Cut cut;
    double decrease = 0;
};

class TreeBuilder {
  public:
    // Begins another tree: a leaf.
    void begin() {
        nodes_.assign(1, {});
        sets_.clear();
        categories_.clear();
    }

    std::size_t size() const { return nodes_.size(); }
    std::size_t leaves() const { return (nodes_.size() + 1) / 2; }
    bool is_leaf(std::size_t node) const { return nodes_[node].node.flags & kLeaf; }

    double weight(std::size_t node) const { return nodes_[node].weight; }
    void set_weight(std::size_t node, double weight) { nodes_[node].weight = weight; }

    // Names the row of scores of a leaf.
    void set_leaf(std::size_t node, std::size_t row) {
        nodes_[node].node = {static_cast<std::int32_t>(row), 0, 0, kLeaf};
    }

    // Splits a leaf and returns its first child, which the second one follows. `left` holds the
    // categories that go left. Values that were never missing here go with the larger child.
    std::size_t split(std::size_t node, const Split& split, const BinSet& left, bool larger_left) {
        const std::size_t child = nodes_.size();
        nodes_.emplace_back();
        nodes_.emplace_back();
        Grown& own = nodes_[node];
        own.decrease = static_cast<float>(split.decrease);
        const bool seen_left =
            split.categorical ? left.contains(kMissingBin) : split.cut.missing_left;
        const bool missing_left = split.cut.missing_seen ? seen_left : larger_left;
        const unsigned flags =
            (split.categorical ? kCategories : 0u) | (missing_left ? kMissingLeft : 0u);
        own.node = {static_cast<std::int32_t>(child), split.feature,
                    split.categorical ? std::uint8_t{0} : last_bin_left(split.cut),
                    static_cast<std::uint8_t>(flags)};
        if (split.categorical) {
            sets_.resize(nodes_.size(), -1);
            sets_[node] = static_cast<std::int32_t>(categories_.size());
            categories_.push_back(left);
        }
        return child;
    }

    // Numbers the leaves in the order of the nodes.
    void number_leaves() {
        std::size_t row = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (is_leaf(i)) set_leaf(i, row++);
    }

    // Writes everything but what leaves say.
    void write(Tree& tree) {
        tree.nodes.resize(nodes_.size());
        tree.weight.resize(nodes_.size());
        tree.decrease.resize(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            tree.nodes[i] = nodes_[i].node;
            tree.weight[i] = nodes_[i].weight;
            tree.decrease[i] = nodes_[i].decrease;
        }
        if (!sets_.empty()) sets_.resize(nodes_.size(), -1);
        tree.sets = sets_;
        tree.categories = categories_;
    }

  private:
    // Side by side: arrays are written when their length is known.
    struct Grown {
        Node node{0, 0, 0, kLeaf};
        double weight = 0;
        float decrease = 0;
    };

    std::vector<Grown> nodes_;
    std::vector<std::int32_t> sets_;
    std::vector<BinSet> categories_;
};

}  // namespace prefero
