#include "core/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace prefero {

namespace {

// One tree after the other, on the same buffers. Values stand node after node, label after label.
class TreeShrinker {
  public:
    TreeShrinker(const Forest& forest, const double* weight)
        : forest_(forest), all_weights_(weight) {}

    // Computes the means of the nodes of a tree.
    void enter(std::size_t tree) {
        const auto at = [tree](const std::int64_t* starts, std::size_t more) {
            return static_cast<std::size_t>(starts[tree + more]);
        };
        const std::size_t c = forest_.labels, value = at(forest_.value_starts, 0) * c;
        nodes_ = forest_.nodes + at(forest_.node_starts, 0);
        weight_ = all_weights_ + at(forest_.node_starts, 0);
        count_ = at(forest_.node_starts, 1) - at(forest_.node_starts, 0);
        leaves_ = at(forest_.value_starts, 1) - at(forest_.value_starts, 0);
        scores_.assign(count_ * c, 0.0);
        evidence_.assign(count_ * c, 1.0);
        for (std::size_t n = count_; n-- > 0;) {
            if (!(nodes_[n].flags & kLeaf)) {
                join_children(n);
                continue;
            }
            const std::size_t own = value + static_cast<std::size_t>(nodes_[n].child) * c;
            std::copy_n(forest_.scores + own, c, scores_.begin() + offset(n));
            if (forest_.evidence)
                std::copy_n(forest_.evidence + own, c, evidence_.begin() + offset(n));
        }
    }

    std::size_t leaves() const { return leaves_; }
    std::size_t nodes() const { return count_; }

    // Writes what the leaves of the tree say, `stride` values apart, and their evidence if there
    // is any.
    void shrink(double strength, std::size_t stride, float* scores, float* evidence) {
        const std::size_t c = forest_.labels;
        moved_.assign(count_ * c, 0.0);
        less_.assign(count_ * c, 0.0);
        for (std::size_t n = 0; n < count_; ++n) {
            if (!(nodes_[n].flags & kLeaf)) {
                if (strength > 0) move_children(n, strength);
                continue;
            }
            const std::size_t to = static_cast<std::size_t>(nodes_[n].child) * stride;
            for (std::size_t k = 0; k < c; ++k) {
                scores[to + k] = static_cast<float>(scores_[n * c + k] + moved_[n * c + k]);
                if (forest_.evidence)
                    evidence[to + k] = static_cast<float>(evidence_[n * c + k] + less_[n * c + k]);
            }
        }
    }

  private:
    std::ptrdiff_t offset(std::size_t node) const {
        return static_cast<std::ptrdiff_t>(node * forest_.labels);
    }

    void join_children(std::size_t node) {
        const std::size_t c = forest_.labels, left = static_cast<std::size_t>(nodes_[node].child);
        for (std::size_t k = 0; k < c; ++k) {
            double seen = 0, votes = 0;
            for (std::size_t child : {left, left + 1}) {
                const double own = weight_[child] * evidence_[child * c + k];
                seen += own;
                votes += own * scores_[child * c + k];
            }
            scores_[node * c + k] = seen > 0 ? votes / seen : 0;
            evidence_[node * c + k] = seen / weight_[node];
        }
    }

    // How far the children are moved: as their parent, and a part of the way to it.
    void move_children(std::size_t node, double strength) {
        const std::size_t c = forest_.labels, left = static_cast<std::size_t>(nodes_[node].child);
        for (std::size_t k = 0; k < c; ++k) {
            const std::size_t at = node * c + k;
            const double mass = weight_[node] * evidence_[at];
            const double part =
                std::isinf(strength) || !(mass > 0) ? 1 : strength / (mass + strength);
            for (std::size_t to : {left * c + k, (left + 1) * c + k}) {
                const bool says = evidence_[to] > 0;  // else what the parent says
                moved_[to] = moved_[at] + (says ? part : 1) * (scores_[at] - scores_[to]);
                less_[to] = less_[at] + part * (evidence_[at] - evidence_[to]);
            }
        }
    }

    const Forest& forest_;
    const double* all_weights_;
    const Node* nodes_ = nullptr;
    const double* weight_ = nullptr;
    std::size_t count_ = 0, leaves_ = 0;
    std::vector<double> scores_, evidence_;  // the means
    std::vector<double> moved_, less_;       // by how much a strength changes them
};

}  // namespace

void shrink(const Forest& forest, const double* weight, Strengths strengths, float* scores,
            float* evidence, Interruption& interruption) {
    const auto all = static_cast<std::size_t>(forest.value_starts[forest.trees]) * forest.labels;
    TreeShrinker shrinker(forest, weight);
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * forest.labels);
        const std::size_t first =
            static_cast<std::size_t>(forest.value_starts[tree]) * forest.labels;
        for (std::size_t s = 0; s < strengths.count; ++s)
            shrinker.shrink(strengths.values[s], forest.labels, scores + s * all + first,
                            evidence + (forest.evidence ? s * all + first : 0));
    }
}

void predict_out_of_bag(const Forest& forest, BinMatrix bins, const std::uint64_t* seeds,
                        const double* weight, Strengths strengths, double* scores,
                        std::int64_t* trees, Interruption& interruption) {
    const std::size_t c = forest.labels, width = strengths.count * c;
    TreeShrinker shrinker(forest, weight);
    std::vector<float> values, known;  // leaves x strengths x labels
    std::vector<double> sums(bins.rows * width), seen(forest.evidence ? sums.size() : 0);
    std::fill_n(trees, bins.rows, std::int64_t{0});
    const auto add = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * c);
        values.resize(shrinker.leaves() * width);
        known.resize(forest.evidence ? values.size() : 0);
        for (std::size_t s = 0; s < strengths.count; ++s)
            shrinker.shrink(strengths.values[s], width, values.data() + s * c,
                            known.data() + (forest.evidence ? s * c : 0));
        for (std::size_t row = 0; row < bins.rows; ++row) {
            if (drawn[row] > 0) continue;
            ++trees[row];
            const std::size_t from = static_cast<std::size_t>(leaves[row]) * width;
            double* to = sums.data() + row * width;
            for (std::size_t i = 0; i < width; ++i)
                to[i] += forest.evidence ? double{known[from + i]} * values[from + i]
                                         : double{values[from + i]};
            for (std::size_t i = 0; forest.evidence && i < width; ++i)
                seen[row * width + i] += known[from + i];
        }
    };
    walk_samples(forest, bins, seeds, interruption, add);
    for (std::size_t s = 0; s < strengths.count; ++s)
        for (std::size_t row = 0; row < bins.rows; ++row)
            for (std::size_t k = 0; k < c; ++k) {
                const std::size_t at = row * width + s * c + k;
                const double count = forest.evidence ? seen[at] : static_cast<double>(trees[row]);
                *scores++ = count > 0 ? sums[at] / count : sums[at];
            }
}

}  // namespace prefero
