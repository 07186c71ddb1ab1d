#include "core/tree.hpp"

#include <algorithm>

#include "core/indices.hpp"
#include "core/lanes.hpp"
#include "core/sample.hpp"

namespace prefero {

namespace {

constexpr std::size_t kChunk = 65536;    // rows that pass through all trees before the next ones
constexpr std::size_t kRowBlock = 1024;  // rows that walk down a tree together
constexpr std::size_t kTogether = 16;    // of them step by step
constexpr std::size_t kStepsARow = 64;   // what walking down a tree takes, in nanoseconds or so
constexpr std::size_t kSteps = 3;        // before those that have arrived leave

struct TreeView {
    std::size_t count;  // nodes
    const Node* nodes;
    const Node* paths;
    const std::int32_t* sets;
    const BinSet* categories;
};

TreeView view(const Forest& forest, std::size_t tree) {
    const auto node = static_cast<std::size_t>(forest.node_starts[tree]);
    return {static_cast<std::size_t>(forest.node_starts[tree + 1]) - node, forest.nodes + node,
            forest.paths + node, forest.sets ? forest.sets + node : nullptr,
            forest.sets ? forest.categories + forest.set_starts[tree] : nullptr};
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

// A few steps of kTogether rows down a tree, without a branch: memory answers one while another
// waits. Writes those that have not arrived to `still` and returns behind the last of them.
PREFERO_INLINE std::uint16_t* walk_together(const Node* paths, BinMatrix bins, std::size_t steps,
                                            const std::uint16_t* rows, std::int32_t* nodes,
                                            std::uint16_t* still) {
    const std::uint8_t* own[kTogether];
    std::int32_t at[kTogether];
    for (std::size_t i = 0; i < kTogether; ++i) {
        own[i] = bins.data + rows[i] * bins.features;
        at[i] = nodes[rows[i]];
    }
    for (std::size_t step = 0; step < steps; ++step)
        for (std::size_t i = 0; i < kTogether; ++i) {
            const Node node = paths[at[i]];
            at[i] = node.child + (own[i][node.feature] > node.cut);
        }
    for (std::size_t i = 0; i < kTogether; ++i) {
        const std::uint16_t row = rows[i];
        nodes[row] = at[i];
        *still = row;
        still += !(paths[at[i]].flags & kLeaf);
    }
    return still;
}

// The leaves of up to kRowBlock rows, when no test is on categories and no value is missing. After
// a few steps those that have arrived leave the block: paths differ much in length.
void plain_leaves(const TreeView& tree, BinMatrix bins, std::int32_t* leaves) {
    std::uint16_t walking[kRowBlock + kTogether];
    for (std::size_t row = 0; row < bins.rows; ++row) {
        walking[row] = static_cast<std::uint16_t>(row);
        leaves[row] = 0;  // while a row walks, the node where it is
    }
    // Few arrive before the depth that the leaves of a balanced tree would have.
    std::size_t steps = 1;
    while (tree.count >> (steps + 1)) ++steps;
    for (std::size_t left = bins.rows; left > 0; steps = kSteps) {
        // To walk together the last row walks with itself, which does no harm.
        for (std::size_t i = 0; i < kTogether; ++i) walking[left + i] = walking[left - 1];
        std::uint16_t* still = walking;
        for (std::size_t i = 0; i < left; i += kTogether)
            still = walk_together(tree.paths, bins, steps, walking + i, leaves, still);
        left = static_cast<std::size_t>(still - walking);
    }
    for (std::size_t row = 0; row < bins.rows; ++row) leaves[row] = tree.nodes[leaves[row]].child;
}

void leaves_of(const TreeView& tree, BinMatrix bins, bool plain, std::int32_t* leaves) {
    for (std::size_t row = 0; plain && row < bins.rows; row += kRowBlock)
        plain_leaves(
            tree,
            {bins.data + row * bins.features, std::min(kRowBlock, bins.rows - row), bins.features},
            leaves + row);
    if (plain) return;
    for (std::size_t row = 0; row < bins.rows; ++row)
        leaves[row] = walk(tree, bins.data + row * bins.features);
}

// Calls visit(tree, rows) for every tree, chunk of rows by chunk and tree by tree.
struct LeafBlock {
    std::size_t first, count;    // rows
    const std::int32_t* leaves;  // of each
};

template <class Visit>
void for_each_tree(const Forest& forest, BinMatrix bins, Interruption& interruption, Visit visit) {
    std::vector<std::int32_t> leaves(std::min(kChunk, bins.rows));
    for (std::size_t first = 0; first < bins.rows; first += kChunk) {
        const BinMatrix chunk{bins.data + first * bins.features,
                              std::min(kChunk, bins.rows - first), bins.features};
        const bool plain = !forest.sets && !any_missing(chunk);
        for (std::size_t tree = 0; tree < forest.trees; ++tree) {
            interruption.spend(chunk.rows * (kStepsARow + forest.labels));
            leaves_of(view(forest, tree), chunk, plain, leaves.data());
            visit(tree, LeafBlock{first, chunk.rows, leaves.data()});
        }
    }
}

// Adds the scores of leaves to the sums of rows.
PREFERO_CLONES void add_scores(const float* scores, std::size_t labels, const LeafBlock& rows,
                               double* sums) {
    constexpr std::size_t kAhead = 16;  // rows whose scores are on their way from memory
    for (std::size_t i = 0; i < rows.count; ++i) {
        if (i + kAhead < rows.count)
            prefetch(scores + static_cast<std::size_t>(rows.leaves[i + kAhead]) * labels);
        const float* own = scores + static_cast<std::size_t>(rows.leaves[i]) * labels;
        double* row = sums + (rows.first + i) * labels;
        for (std::size_t k = 0; k < labels; ++k) row[k] += own[k];
    }
}

// The sums of what leaves say.
class ScoreSums {
  public:
    ScoreSums(const Forest& forest, std::size_t rows, double* scores)
        : forest_(forest), scores_(scores), seen_(forest.evidence ? rows * forest.labels : 0) {}

    void add(std::size_t tree, const LeafBlock& rows) {
        if (!forest_.evidence) {
            const auto first = static_cast<std::size_t>(forest_.value_starts[tree]);
            add_scores(forest_.scores + first * forest_.labels, forest_.labels, rows, scores_);
            return;
        }
        for (std::size_t i = 0; i < rows.count; ++i) add(tree, rows.first + i, rows.leaves[i]);
    }

    PREFERO_INLINE void add(std::size_t tree, std::size_t row, std::int32_t leaf) {
        const std::size_t c = forest_.labels;
        const auto value = static_cast<std::size_t>(forest_.value_starts[tree] + leaf) * c;
        double* sums = scores_ + row * c;
        if (!forest_.evidence) {
            for (std::size_t k = 0; k < c; ++k) sums[k] += forest_.scores[value + k];
            return;
        }
        for (std::size_t k = 0; k < c; ++k) {
            const double evidence = forest_.evidence[value + k];
            sums[k] += evidence * forest_.scores[value + k];
            seen_[row * c + k] += evidence;
        }
    }

    // Sums become means; `trees` is how many have been added to the row.
    void finish(std::size_t row, std::size_t trees) {
        const std::size_t c = forest_.labels;
        for (std::size_t k = 0; k < c; ++k) {
            const double seen = forest_.evidence ? seen_[row * c + k] : static_cast<double>(trees);
            if (seen > 0) scores_[row * c + k] /= seen;
        }
    }

  private:
    const Forest& forest_;
    double* scores_;
    std::vector<double> seen_;
};

bool valid_node(const Forest& forest, std::size_t tree, std::size_t at, std::size_t features) {
    const auto length = [&](const std::int64_t* starts) { return starts[tree + 1] - starts[tree]; };
    const auto index = static_cast<std::size_t>(forest.node_starts[tree]) + at;
    const Node& node = forest.nodes[index];
    if (node.flags & kLeaf) return node.child >= 0 && node.child < length(forest.value_starts);
    // Children behind their parent: every walk ends.
    if (node.child <= static_cast<std::int64_t>(at) || node.child + 1 >= length(forest.node_starts))
        return false;
    if (node.feature >= features) return false;
    if (!(node.flags & kCategories)) return true;
    return forest.sets && forest.sets[index] >= 0 && forest.sets[index] < length(forest.set_starts);
}

}  // namespace

std::vector<Node> self_looping(const Forest& forest) {
    std::vector<Node> paths(forest.nodes, forest.nodes + forest.node_starts[forest.trees]);
    for (std::size_t tree = 0; tree < forest.trees; ++tree)
        for (std::int64_t at = forest.node_starts[tree]; at < forest.node_starts[tree + 1]; ++at) {
            Node& node = paths[static_cast<std::size_t>(at)];
            if (!(node.flags & kLeaf)) continue;
            const auto own = static_cast<std::int32_t>(at - forest.node_starts[tree]);
            node = {own, 0, kBins - 1, kLeaf};
        }
    return paths;
}

bool valid(const Forest& forest, std::size_t features, std::size_t set_count) {
    for (const std::int64_t* starts : {forest.node_starts, forest.value_starts})
        if (!valid_starts(starts, forest.trees + 1, static_cast<std::size_t>(starts[forest.trees])))
            return false;
    if (!valid_starts(forest.set_starts, forest.trees + 1, set_count)) return false;
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        const auto nodes =
            static_cast<std::size_t>(forest.node_starts[tree + 1] - forest.node_starts[tree]);
        if (nodes == 0) return false;
        for (std::size_t at = 0; at < nodes; ++at)
            if (!valid_node(forest, tree, at, features)) return false;
    }
    return true;
}

void apply(const Forest& forest, BinMatrix bins, std::int32_t* leaves, Interruption& interruption) {
    for_each_tree(forest, bins, interruption, [&](std::size_t tree, const LeafBlock& rows) {
        for (std::size_t i = 0; i < rows.count; ++i)
            leaves[(rows.first + i) * forest.trees + tree] = rows.leaves[i];
    });
}

void predict_scores(const Forest& forest, BinMatrix bins, double* scores,
                    Interruption& interruption) {
    ScoreSums sums(forest, bins.rows, scores);
    for_each_tree(forest, bins, interruption,
                  [&](std::size_t tree, const LeafBlock& rows) { sums.add(tree, rows); });
    for (std::size_t row = 0; row < bins.rows; ++row) sums.finish(row, forest.trees);
}

void add_tree_scores(const Tree& tree, std::size_t labels, BinMatrix bins, double* scores,
                     Interruption& interruption) {
    const std::int64_t nodes[] = {0, static_cast<std::int64_t>(tree.nodes.size())};
    const std::int64_t leaves[] = {0, static_cast<std::int64_t>(tree.scores.size() / labels)};
    const std::int64_t sets[] = {0, static_cast<std::int64_t>(tree.categories.size())};
    Forest forest{1,
                  labels,
                  nodes,
                  leaves,
                  sets,
                  tree.nodes.data(),
                  nullptr,
                  tree.sets.empty() ? nullptr : tree.sets.data(),
                  tree.categories.data(),
                  tree.scores.data(),
                  nullptr};
    const std::vector<Node> paths = self_looping(forest);
    forest.paths = paths.data();
    ScoreSums sums(forest, bins.rows, scores);
    for_each_tree(forest, bins, interruption,
                  [&](std::size_t at, const LeafBlock& rows) { sums.add(at, rows); });
}

void walk_samples(const Forest& forest, BinMatrix bins, Samples samples, Interruption& interruption,
                  const std::function<void(std::size_t tree, const std::uint16_t* drawn,
                                           const std::int32_t* leaves)>& visit) {
    std::vector<std::int32_t> leaves(bins.rows);
    std::vector<std::uint16_t> drawn(bins.rows);
    const bool plain = !forest.sets && !any_missing(bins);
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        interruption.spend(bins.rows * (kStepsARow + forest.labels));
        if (samples.counts)
            std::copy_n(samples.counts + tree * bins.rows, bins.rows, drawn.begin());
        else if (samples.seeds)
            bootstrap_counts(samples.seeds[tree], {0, bins.rows, bins.rows}, drawn.data());
        else
            std::fill(drawn.begin(), drawn.end(), std::uint16_t{1});
        leaves_of(view(forest, tree), bins, plain, leaves.data());
        visit(tree, drawn.data(), leaves.data());
    }
}

void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, double* scores,
                        std::int64_t* trees, Interruption& interruption) {
    ScoreSums sums(forest, bins.rows, scores);
    std::fill_n(trees, bins.rows, std::int64_t{0});
    const auto add = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        for (std::size_t row = 0; row < bins.rows; ++row) {
            if (drawn[row] > 0) continue;
            sums.add(tree, row, leaves[row]);
            ++trees[row];
        }
    };
    walk_samples(forest, bins, samples, interruption, add);
    for (std::size_t row = 0; row < bins.rows; ++row)
        sums.finish(row, static_cast<std::size_t>(trees[row]));
}

void leaf_shares(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                 Facts facts, float* shares, float* known, Interruption& interruption) {
    const std::size_t m = facts.columns;
    std::vector<double> all, seen, holds;  // of the leaves of a tree
    const auto sum = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        const auto first = static_cast<std::size_t>(forest.value_starts[tree]);
        const auto count = static_cast<std::size_t>(forest.value_starts[tree + 1]) - first;
        interruption.spend((bins.rows + count) * m);
        all.assign(count, 0.0);
        seen.assign(count * m, 0.0);
        holds.assign(count * m, 0.0);
        for (std::size_t row = 0; row < bins.rows; ++row) {
            if (drawn[row] == 0) continue;
            const double mass = drawn[row] * weight[row];
            const auto leaf = static_cast<std::size_t>(leaves[row]);
            const std::int8_t* own = facts.values + row * m;
            all[leaf] += mass;
            for (std::size_t k = 0; k < m; ++k) {
                seen[leaf * m + k] += own[k] >= 0 ? mass : 0;
                holds[leaf * m + k] += own[k] > 0 ? mass : 0;
            }
        }
        for (std::size_t i = 0; i < count * m; ++i) {
            const double mass = all[i / m];
            shares[first * m + i] = static_cast<float>(seen[i] > 0 ? holds[i] / seen[i] : 0);
            known[first * m + i] = static_cast<float>(mass > 0 ? seen[i] / mass : 0);
        }
    };
    walk_samples(forest, bins, samples, interruption, sum);
}

void predict_pair_shares(const Forest& forest, BinMatrix bins, double* shares,
                         Interruption& interruption) {
    const std::size_t c = forest.labels;
    const auto knows = [&](std::size_t value, std::size_t label) {
        return !forest.evidence || forest.evidence[value + label] > 0;
    };
    const auto add = [&](std::size_t value, double* out) {
        for (std::size_t i = 0; i < c; ++i)
            for (std::size_t j = i + 1; j < c; ++j) {
                if (!knows(value, i) || !knows(value, j)) continue;
                const float difference = forest.scores[value + i] - forest.scores[value + j];
                out[i * c + j] += difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
                out[j * c + i] += difference > 0 ? 0 : difference < 0 ? 1 : 0.5;
            }
    };
    for_each_tree(forest, bins, interruption, [&](std::size_t tree, const LeafBlock& rows) {
        for (std::size_t i = 0; i < rows.count; ++i)
            add(static_cast<std::size_t>(forest.value_starts[tree] + rows.leaves[i]) * c,
                shares + (rows.first + i) * c * c);
    });
    for (std::size_t row = 0; row < bins.rows; ++row)
        for (std::size_t i = 0; i < c; ++i)
            for (std::size_t j = i + 1; j < c; ++j) {
                double &first = shares[(row * c + i) * c + j],
                       &second = shares[(row * c + j) * c + i];
                const double votes = first + second;
                first = votes > 0 ? first / votes : 0.5;
                second = 1 - first;
            }
}

}  // namespace prefero
