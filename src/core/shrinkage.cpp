#include "core/shrinkage.hpp"

#include <algorithm>
#include <cmath>

#include "core/wide.hpp"

namespace prefero {

namespace {

struct Extent {
    std::size_t labels, strengths;
};

// A node's own values and those of its parent.
struct Way {
    const double *own, *parent;
};

PREFERO_CLONES void move_along(Extent size, Way way, const double* parts, const double* above,
                               double* to) {
    for (std::size_t k = 0; k < size.labels; ++k) {
        const double own = way.own[k], parent = way.parent[k], whole = parent - own;
        for (std::size_t i = k * size.strengths; i < (k + 1) * size.strengths; ++i)
            to[i] = own + ((above[i] - parent) + parts[i] * whole);
    }
}

// The mean of two children of these weights, which know every label.
PREFERO_CLONES void join_known(const double* weights, const double* children, std::size_t labels,
                               double* to) {
    const double here = weights[0], there = weights[1], seen = here + there;
    for (std::size_t k = 0; k < labels; ++k)
        to[k] = seen > 0 ? (here * children[k] + there * children[labels + k]) / seen : 0;
}

PREFERO_CLONES void add_values(const float* values, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] += values[i];
}

// One tree after the other, on the same buffers. Values stand node after node, label after label.
class TreeShrinker {
  public:
    TreeShrinker(const Forest& forest, const double* weight)
        : forest_(forest), labels_(forest.labels), all_weights_(weight) {}

    // Computes the means of the nodes of a tree.
    void enter(std::size_t tree) {
        const auto at = [tree](const std::int64_t* starts, std::size_t more) {
            return static_cast<std::size_t>(starts[tree + more]);
        };
        nodes_ = forest_.nodes + at(forest_.node_starts, 0);
        weight_ = all_weights_ + at(forest_.node_starts, 0);
        count_ = at(forest_.node_starts, 1) - at(forest_.node_starts, 0);
        leaves_ = at(forest_.value_starts, 1) - at(forest_.value_starts, 0);
        first_ = at(forest_.value_starts, 0) * labels_;
        scores_.resize(count_ * labels_);
        evidence_.resize(forest_.evidence ? count_ * labels_ : 0);
        for (std::size_t n = count_; n-- > 0;) is_leaf(n) ? read_leaf(n) : join_children(n);
    }

    std::size_t leaves() const { return leaves_; }
    std::size_t nodes() const { return count_; }

    // Writes what the leaves of the tree say at each strength, and their evidence if there is any:
    // leaves x labels x strengths.
    void shrink(Strengths strengths, float* scores, float* evidence) {
        const std::size_t each = labels_ * strengths.count;
        strengths_ = strengths;
        waiting_.assign(1, {0, 0, 0});
        while (!waiting_.empty()) {
            const Waiting at = waiting_.back();
            waiting_.pop_back();
            if (levels_.size() <= at.depth) levels_.emplace_back(each);
            if (levels_[at.depth].scores.size() != each) levels_[at.depth] = Level(each);
            arrive(at);
            if (is_leaf(at.node)) {
                write(levels_[at.depth].scores, forest_.scores, at.node, scores);
                if (forest_.evidence)
                    write(levels_[at.depth].evidence, forest_.evidence, at.node, evidence);
                continue;
            }
            write_parts(at.node, levels_[at.depth]);
            for (std::size_t child : {first_child(at.node) + 1, first_child(at.node)})
                waiting_.push_back({child, at.node, at.depth + 1});
        }
    }

  private:
    bool is_leaf(std::size_t node) const { return nodes_[node].flags & kLeaf; }
    std::size_t first_child(std::size_t node) const {
        return static_cast<std::size_t>(nodes_[node].child);
    }
    std::size_t value_row(std::size_t leaf) const { return first_child(leaf); }

    void read_leaf(std::size_t node) {
        const std::size_t own = first_ + value_row(node) * labels_;
        for (std::size_t k = 0; k < labels_; ++k) {
            scores_[node * labels_ + k] = forest_.scores[own + k];
            if (forest_.evidence) evidence_[node * labels_ + k] = forest_.evidence[own + k];
        }
    }

    void join_children(std::size_t node) {
        const std::size_t left = first_child(node) * labels_, right = left + labels_;
        const double* weights = weight_ + first_child(node);
        if (!forest_.evidence)
            return join_known(weights, scores_.data() + left, labels_,
                              scores_.data() + node * labels_);
        for (std::size_t k = 0; k < labels_; ++k) {
            const double here = weights[0] * evidence_[left + k];
            const double there = weights[1] * evidence_[right + k], seen = here + there;
            const double votes = here * scores_[left + k] + there * scores_[right + k];
            scores_[node * labels_ + k] = seen > 0 ? votes / seen : 0;
            evidence_[node * labels_ + k] = seen / weight_[node];
        }
    }

    // A node on the way down and what its values become: labels x strengths.
    struct Level {
        explicit Level(std::size_t each) : scores(each), evidence(each), parts(each) {}
        std::vector<double> scores, evidence;
        std::vector<double> parts;  // of the way from a child to the node
    };

    struct Waiting {
        std::size_t node, parent, depth;
    };

    // Moves a node as its parent, and a part of the way to it.
    void arrive(const Waiting& at) {
        Level& own = levels_[at.depth];
        if (at.depth == 0) {
            for (std::size_t i = 0; i < own.scores.size(); ++i) {
                own.scores[i] = scores_[i / strengths_.count];
                if (forest_.evidence) own.evidence[i] = evidence_[i / strengths_.count];
            }
            return;
        }
        const Level& above = levels_[at.depth - 1];
        const Extent size{labels_, strengths_.count};
        const std::size_t here = at.node * labels_, there = at.parent * labels_;
        // A child without evidence says what the node says.
        for (std::size_t k = 0; forest_.evidence && k < labels_; ++k)
            if (!(evidence_[here + k] > 0)) scores_[here + k] = scores_[there + k];
        move_along(size, {&scores_[here], &scores_[there]}, above.parts.data(), above.scores.data(),
                   own.scores.data());
        if (forest_.evidence)
            move_along(size, {&evidence_[here], &evidence_[there]}, above.parts.data(),
                       above.evidence.data(), own.evidence.data());
    }

    void write_parts(std::size_t node, Level& level) const {
        const std::size_t count = strengths_.count;
        for (std::size_t k = 0; k < labels_; ++k) {
            double* parts = level.parts.data() + k * count;
            if (k > 0 && !forest_.evidence) {
                std::copy_n(level.parts.data(), count, parts);
                continue;
            }
            const double seen = forest_.evidence ? evidence_[node * labels_ + k] : 1;
            const double mass = weight_[node] * seen;
            for (std::size_t s = 0; s < count; ++s) {
                const double strength = strengths_.values[s];
                parts[s] = std::isinf(strength) ? 1
                           : strength > 0       ? strength / (mass + strength)
                                                : 0;
            }
        }
    }

    // Strength 0 leaves what there is.
    void write(const std::vector<double>& moved, const float* grown, std::size_t leaf,
               float* to) const {
        const std::size_t row = value_row(leaf), own = first_ + row * labels_;
        to += row * moved.size();
        for (std::size_t i = 0; i < moved.size(); ++i) to[i] = static_cast<float>(moved[i]);
        for (std::size_t s = 0; s < strengths_.count; ++s)
            for (std::size_t k = 0; strengths_.values[s] == 0 && k < labels_; ++k)
                to[k * strengths_.count + s] = grown[own + k];
    }

    const Forest& forest_;
    std::size_t labels_;
    const double* all_weights_;
    const Node* nodes_ = nullptr;
    const double* weight_ = nullptr;
    std::size_t count_ = 0, leaves_ = 0, first_ = 0;
    std::vector<double> scores_, evidence_;
    Strengths strengths_{};
    std::vector<Level> levels_;
    std::vector<Waiting> waiting_;
};

}  // namespace

void shrink(const Forest& forest, const double* weight, Strengths strengths, float* scores,
            float* evidence, Interruption& interruption) {
    const std::size_t c = forest.labels, width = strengths.count * c;
    const auto all = static_cast<std::size_t>(forest.value_starts[forest.trees]) * c;
    TreeShrinker shrinker(forest, weight);
    std::vector<float> values, known;
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * c);
        values.resize(shrinker.leaves() * width);
        known.resize(forest.evidence ? values.size() : 0);
        shrinker.shrink(strengths, values.data(), known.data());
        const std::size_t first = static_cast<std::size_t>(forest.value_starts[tree]) * c;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t to = i % strengths.count * all + first + i / strengths.count;
            scores[to] = values[i];
            if (forest.evidence) evidence[to] = known[i];
        }
    }
}

void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                        Strengths strengths, double* scores, std::int64_t* trees,
                        Interruption& interruption) {
    const std::size_t c = forest.labels, width = strengths.count * c;
    TreeShrinker shrinker(forest, weight);
    std::vector<float> values, known;  // leaves x labels x strengths
    std::vector<double> sums(bins.rows * width), seen(forest.evidence ? sums.size() : 0);
    std::fill_n(trees, bins.rows, std::int64_t{0});
    const auto add = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * c);
        values.resize(shrinker.leaves() * width);
        known.resize(forest.evidence ? values.size() : 0);
        shrinker.shrink(strengths, values.data(), known.data());
        for (std::size_t row = 0; row < bins.rows; ++row) {
            if (drawn[row] > 0) continue;
            ++trees[row];
            const std::size_t from = static_cast<std::size_t>(leaves[row]) * width;
            double* to = sums.data() + row * width;
            if (!forest.evidence) {
                add_values(values.data() + from, width, to);
                continue;
            }
            for (std::size_t i = 0; i < width; ++i) {
                to[i] += double{known[from + i]} * values[from + i];
                seen[row * width + i] += known[from + i];
            }
        }
    };
    walk_samples(forest, bins, samples, Walking::kLeftOut, interruption, add);
    for (std::size_t s = 0; s < strengths.count; ++s)
        for (std::size_t row = 0; row < bins.rows; ++row)
            for (std::size_t k = 0; k < c; ++k) {
                const std::size_t at = row * width + k * strengths.count + s;
                const double count = forest.evidence ? seen[at] : static_cast<double>(trees[row]);
                *scores++ = count > 0 ? sums[at] / count : sums[at];
            }
}

}  // namespace prefero
