// Trees as flat arrays: what growing writes and predicting reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/bins.hpp"
#include "core/interruption.hpp"

namespace prefero {

// Eight bytes, because walking down a tree waits for memory. A row goes to `child` if its bin
// is at most `cut`, else to `child + 1`; children stand after their parent.
struct Node {
    std::int32_t child;     // first child, counted from the tree's root; of a leaf its value row
    std::uint16_t feature;  // 0 in a leaf
    std::uint8_t cut;       // unused in a leaf or a test on categories
    std::uint8_t flags;
};
static_assert(sizeof(Node) == 8, "nodes are stored as eight bytes");

constexpr std::uint8_t kLeaf = 1;
constexpr std::uint8_t kMissingLeft = 2;
constexpr std::uint8_t kCategories = 4;

// The bins that go left.
struct BinSet {
    std::uint64_t words[kBins / 64] = {};

    void insert(std::size_t bin) { words[bin / 64] |= std::uint64_t{1} << (bin % 64); }
    bool contains(std::size_t bin) const { return words[bin / 64] >> (bin % 64) & 1; }
};

// One grown tree.
struct Tree {
    std::vector<Node> nodes;
    std::vector<double> weight;      // nodes: the weight of their training rows
    std::vector<float> decrease;     // nodes: weight times what the split gains, 0 in a leaf
    std::vector<std::int32_t> sets;  // nodes: row of `categories`, or -1; empty if all are
    std::vector<BinSet> categories;
    std::vector<float> scores;       // leaves x labels
    std::vector<float> comparisons;  // leaves x labels, empty if every row ranks every label
};

// Nodes again, four bytes each, for walks that need no test whether they have ended: the cut in the
// lowest bits, then the feature, and from bit `shift` on how far the first child is. That of a leaf
// is the leaf itself, with a cut behind all bins. Empty if a child is too far for that.
struct Paths {
    std::vector<std::uint32_t> steps;
    unsigned shift = 0;
};

// Many trees one after the other, as views.
struct Forest {
    std::size_t trees, labels;
    const std::int64_t* node_starts;   // trees + 1
    const std::int64_t* value_starts;  // trees + 1
    const std::int64_t* set_starts;    // trees + 1
    const Node* nodes;
    const Paths* paths;        // of the same nodes, or null
    const std::int32_t* sets;  // nodes, or null if no test is on categories
    const BinSet* categories;
    const float* scores;
    const float* comparisons;  // or null
};

// Whether every index in the arrays lies inside them and every walk ends, for rows of so many
// features. `set_count` is the number of category sets. Arrays that come from a file are checked
// by this before any other function.
bool valid(const Forest& forest, std::size_t features, std::size_t set_count);

// The paths of valid trees on rows of so many features.
Paths make_paths(const Forest& forest, std::size_t features);

// The leaf that each row reaches in each tree: rows x trees value rows, counted from the tree's
// first.
void apply(const Forest& forest, BinMatrix bins, std::int32_t* leaves, Interruption& interruption);

// Mean scores over the trees, weighted by comparisons where some are missing: rows x labels, zero
// before the call.
void predict_scores(const Forest& forest, BinMatrix bins, double* scores,
                    Interruption& interruption);

// Adds the scores of one tree, which counts no comparisons, to those of rows.
void add_tree_scores(const Tree& tree, std::size_t labels, BinMatrix bins, double* scores,
                     Interruption& interruption);

// How often the sample of a tree holds a row: as the bootstrap sample of its seed does; as often as
// is given, trees x rows; or, if both are null, once.
struct Samples {
    const std::uint64_t* seeds = nullptr;
    const std::uint16_t* counts = nullptr;
};

// Whose leaves a walk must find.
enum class Walking { kAll, kLeftOut };

// Calls visit(tree, drawn, leaves) for each tree: how often its sample holds each row, and the leaf
// that the row reaches; the leaves of other rows than those who walk are left open.
void walk_samples(const Forest& forest, BinMatrix bins, Samples samples, Walking who,
                  Interruption& interruption,
                  const std::function<void(std::size_t tree, const std::uint16_t* drawn,
                                           const std::int32_t* leaves)>& visit);

// Lists the rows that a sample lacks and returns their number. There is room for all.
std::size_t rows_left_out(const std::uint16_t* drawn, std::size_t rows, std::uint32_t* left_out);

// What predict_scores says of training rows by the trees whose sample lacks them. `trees` counts
// these for each row.
void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, double* scores,
                        std::int64_t* trees, Interruption& interruption);

// What holds for rows: 1 yes, 0 no, -1 unknown; rows x columns.
struct Facts {
    const std::int8_t* values;
    std::size_t columns;
};

// The share of the known rows of every leaf for which each fact holds, and the share of its rows
// for which it is known: leaves x columns. `drawn` as in walk_samples, times `weight` of the rows.
void leaf_shares(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                 Facts facts, float* shares, float* known, Interruption& interruption);

// The share of trees that put label i before label j, ties half: rows x labels x labels, zero
// before the call. A tree that knows nothing of i or j has no vote; without votes it is 1/2.
void predict_pair_shares(const Forest& forest, BinMatrix bins, double* shares,
                         Interruption& interruption);

}  // namespace prefero
