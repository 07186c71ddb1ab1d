#include "core/tree.hpp"

#include <algorithm>

#include "core/indices.hpp"
#include "core/lanes.hpp"
#include "core/sample.hpp"
#include "core/walk.hpp"

namespace prefero {

namespace {

constexpr std::size_t kChunk = 65536;   // rows that pass through all trees before the next ones
constexpr std::size_t kStepsARow = 64;  // what walking down a tree takes, in nanoseconds or so

bool any_missing(BinMatrix bins) {
    const std::uint8_t* end = bins.data + bins.rows * bins.features;
    return std::find(bins.data, end, std::uint8_t{kMissingBin}) != end;
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
            leaves_of(forest, tree, chunk, plain, nullptr, leaves.data());
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
    const Paths paths = make_paths(forest, bins.features);
    forest.paths = &paths;
    ScoreSums sums(forest, bins.rows, scores);
    for_each_tree(forest, bins, interruption,
                  [&](std::size_t at, const LeafBlock& rows) { sums.add(at, rows); });
}

void walk_samples(const Forest& forest, BinMatrix bins, Samples samples, Walking who,
                  Interruption& interruption,
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
        leaves_of(forest, tree, bins, plain, who == Walking::kLeftOut ? drawn.data() : nullptr,
                  leaves.data());
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
