#include "core/tree.hpp"

#include <algorithm>

#include "core/indices.hpp"
#include "core/leaf_scores.hpp"
#include "core/sample.hpp"
#include "core/simd.hpp"
#include "core/walk.hpp"

namespace prefero {

namespace {

constexpr std::size_t kChunk = 65536;     // rows that pass through all trees before the next ones
constexpr std::size_t kStepsPerRow = 64;  // what walking down a tree takes, in nanoseconds or so

// Calls visit(block) for all rows and trees: chunk of rows by chunk, and a few trees at a time.
template <class Visit>
void for_each_block(const Forest& forest, BinMatrix bins, Interruption& interruption, Visit visit) {
    constexpr std::size_t kTogether = LeafBlock::kMostTrees;
    std::vector<std::int32_t> leaves(kTogether * std::min(kChunk, bins.rows));
    for (std::size_t first = 0; first < bins.rows; first += kChunk) {
        const BinMatrix chunk{bins.data + first * bins.features,
                              std::min(kChunk, bins.rows - first), bins.features};
        const WalkingRows rows(forest, chunk, Walking::kAll);
        for (std::size_t tree = 0; tree < forest.trees; tree += kTogether) {
            const std::size_t trees = std::min(kTogether, forest.trees - tree);
            for (std::size_t t = 0; t < trees; ++t) {
                interruption.spend(chunk.rows * (kStepsPerRow + forest.labels));
                leaves_of(forest, tree + t, rows, nullptr, leaves.data() + t * chunk.rows);
            }
            visit(LeafBlock{first, chunk.rows, tree, trees, leaves.data()});
        }
    }
}

// The sums of what leaves say.
class ScoreSums {
  public:
    ScoreSums(const Forest& forest, std::size_t rows, double* scores)
        : forest_(forest), scores_(scores), seen_(forest.comparisons ? rows * forest.labels : 0) {}

    void add(const LeafBlock& block) {
        if (!forest_.comparisons) return add_scores(forest_, block, scores_);
        for (std::size_t t = 0; t < block.trees; ++t)
            for (std::size_t i = 0; i < block.rows; ++i)
                add_weighted(block.first_tree + t, block.number(i), block.leaf(t, i));
    }

    // Sums become means; `trees` is how many have been added to the row.
    void finish(std::size_t row, std::size_t trees) {
        const std::size_t c = forest_.labels;
        for (std::size_t k = 0; k < c; ++k) {
            const double seen =
                forest_.comparisons ? seen_[row * c + k] : static_cast<double>(trees);
            if (seen > 0) scores_[row * c + k] /= seen;
        }
    }

  private:
    void add_weighted(std::size_t tree, std::size_t row, std::int32_t leaf) {
        const std::size_t c = forest_.labels;
        const auto value = static_cast<std::size_t>(forest_.value_starts[tree] + leaf) * c;
        for (std::size_t k = 0; k < c; ++k) {
            const double comparisons = forest_.comparisons[value + k];
            scores_[row * c + k] += comparisons * forest_.scores[value + k];
            seen_[row * c + k] += comparisons;
        }
    }

    const Forest& forest_;
    double* scores_;
    std::vector<double> seen_;
};

// Whether the nodes of a tree point inside it and the tests are on features, but for the sets of
// categories. Without a branch: which node is a leaf is a coin toss.
bool valid_nodes(const Forest& forest, std::size_t tree, std::size_t features) {
    const auto length = [&](const std::int64_t* starts) { return starts[tree + 1] - starts[tree]; };
    const std::int64_t count = length(forest.node_starts), values = length(forest.value_starts);
    const Node* nodes = forest.nodes + forest.node_starts[tree];
    bool valid = count > 0;
    for (std::int64_t at = 0; at < count; ++at) {
        const Node& node = nodes[at];
        const std::int64_t leaf = node.flags & kLeaf, inner = leaf - 1;  // 1 and 0, or 0 and -1
        // Children behind their parent: every walk ends.
        const std::int64_t first = (at + 1) & inner, end = values + ((count - 1 - values) & inner);
        valid &=
            (node.child >= first) & (node.child < end) & ((leaf != 0) | (node.feature < features));
    }
    return valid;
}

bool valid_sets(const Forest& forest, std::size_t tree) {
    const std::int64_t count = forest.set_starts[tree + 1] - forest.set_starts[tree];
    std::uint8_t used = 0;
    for (std::int64_t at = forest.node_starts[tree]; at < forest.node_starts[tree + 1]; ++at)
        used |= forest.nodes[at].flags & kLeaf ? 0 : forest.nodes[at].flags;
    if (!(used & kCategories)) return true;
    if (!forest.sets) return false;
    for (std::int64_t at = forest.node_starts[tree]; at < forest.node_starts[tree + 1]; ++at) {
        const std::uint8_t flags = forest.nodes[at].flags;
        if (flags & kLeaf || !(flags & kCategories)) continue;
        if (forest.sets[at] < 0 || forest.sets[at] >= count) return false;
    }
    return true;
}

}  // namespace

bool valid(const Forest& forest, std::size_t features, std::size_t set_count) {
    for (const std::int64_t* starts : {forest.node_starts, forest.value_starts})
        if (!valid_starts(starts, forest.trees + 1, static_cast<std::size_t>(starts[forest.trees])))
            return false;
    if (!valid_starts(forest.set_starts, forest.trees + 1, set_count)) return false;
    for (std::size_t tree = 0; tree < forest.trees; ++tree)
        if (!valid_nodes(forest, tree, features) || !valid_sets(forest, tree)) return false;
    return true;
}

void apply(const Forest& forest, BinMatrix bins, std::int32_t* leaves, Interruption& interruption) {
    for_each_block(forest, bins, interruption, [&](const LeafBlock& block) {
        for (std::size_t i = 0; i < block.rows; ++i)
            for (std::size_t t = 0; t < block.trees; ++t)
                leaves[(block.first_row + i) * forest.trees + block.first_tree + t] =
                    block.leaf(t, i);
    });
}

void predict_scores(const Forest& forest, BinMatrix bins, double* scores,
                    Interruption& interruption) {
    ScoreSums sums(forest, bins.rows, scores);
    for_each_block(forest, bins, interruption, [&](const LeafBlock& block) { sums.add(block); });
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
    const Paths paths = make_paths(forest, bins.features);
    forest.paths = &paths;
    ScoreSums sums(forest, bins.rows, scores);
    for_each_block(forest, bins, interruption, [&](const LeafBlock& block) { sums.add(block); });
}

void walk_samples(const Forest& forest, BinMatrix bins, Samples samples, Walking who,
                  Interruption& interruption,
                  const std::function<void(std::size_t tree, const std::uint16_t* drawn,
                                           const std::int32_t* leaves)>& visit) {
    std::vector<std::int32_t> leaves(bins.rows);
    std::vector<std::uint16_t> drawn(bins.rows);
    const WalkingRows rows(forest, bins, who);
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        interruption.spend(bins.rows * (kStepsPerRow + forest.labels));
        if (samples.counts)
            std::copy_n(samples.counts + tree * bins.rows, bins.rows, drawn.begin());
        else if (samples.seeds)
            bootstrap_counts(samples.seeds[tree], {0, bins.rows, bins.rows}, drawn.data());
        else
            std::fill(drawn.begin(), drawn.end(), std::uint16_t{1});
        leaves_of(forest, tree, rows, who == Walking::kLeftOut ? drawn.data() : nullptr,
                  leaves.data());
        visit(tree, drawn.data(), leaves.data());
    }
}

std::size_t rows_left_out(const std::uint16_t* drawn, std::size_t rows, std::uint32_t* left_out) {
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows; ++row) {  // no branch: it would be a coin toss
        left_out[count] = static_cast<std::uint32_t>(row);
        count += drawn[row] == 0;
    }
    return count;
}

void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, double* scores,
                        std::int64_t* trees, Interruption& interruption) {
    ScoreSums sums(forest, bins.rows, scores);
    std::fill_n(trees, bins.rows, std::int64_t{0});
    std::vector<std::uint32_t> left_out(bins.rows);
    std::vector<std::int32_t> reached(bins.rows);
    const auto add = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        const std::size_t count = rows_left_out(drawn, bins.rows, left_out.data());
        for (std::size_t i = 0; i < count; ++i) {
            reached[i] = leaves[left_out[i]];
            ++trees[left_out[i]];
        }
        sums.add(LeafBlock{0, count, tree, 1, reached.data(), left_out.data()});
    };
    walk_samples(forest, bins, samples, Walking::kLeftOut, interruption, add);
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
    walk_samples(forest, bins, samples, Walking::kAll, interruption, sum);
}

void predict_pair_shares(const Forest& forest, BinMatrix bins, double* shares,
                         Interruption& interruption) {
    const std::size_t c = forest.labels;
    const auto knows = [&](std::size_t value, std::size_t label) {
        return !forest.comparisons || forest.comparisons[value + label] > 0;
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
    for_each_block(forest, bins, interruption, [&](const LeafBlock& block) {
        for (std::size_t i = 0; i < block.rows; ++i)
            for (std::size_t t = 0; t < block.trees; ++t) {
                const std::int64_t first = forest.value_starts[block.first_tree + t];
                add(static_cast<std::size_t>(first + block.leaf(t, i)) * c,
                    shares + (block.first_row + i) * c * c);
            }
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
