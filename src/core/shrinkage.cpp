#include "core/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace prefero {

namespace {

// One tree after the other, on the same buffers. Values stand node after node, label after label.
class TreeShrinker {
  public:
    TreeShrinker(const Forest& forest, const double* weight)
        : forest_(forest), labels_(forest.labels), all_weights_(weight), parts_(labels_) {}

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
        evidence_.assign(count_ * labels_, 1.0);
        for (std::size_t n = count_; n-- > 0;) is_leaf(n) ? read_leaf(n) : join_children(n);
        to_parent_.assign(count_ * labels_, 0.0);
        less_to_parent_.assign(forest_.evidence ? count_ * labels_ : 0, 0.0);
        for (std::size_t n = 0; n < count_; ++n)
            if (!is_leaf(n)) look_up(n);
    }

    std::size_t leaves() const { return leaves_; }
    std::size_t nodes() const { return count_; }

    // Writes what the leaves of the tree say, `stride` values apart, and their evidence if there
    // is any.
    void shrink(double strength, std::size_t stride, float* scores, float* evidence) {
        if (strength > 0) {
            move(strength, scores_, to_parent_, moved_scores_);
            if (forest_.evidence) move(strength, evidence_, less_to_parent_, moved_evidence_);
        }
        for (std::size_t n = 0; n < count_; ++n) {
            if (!is_leaf(n)) continue;
            const std::size_t to = value_row(n) * stride, own = first_ + value_row(n) * labels_;
            for (std::size_t k = 0; k < labels_; ++k)
                scores[to + k] = strength > 0 ? static_cast<float>(moved_scores_[n * labels_ + k])
                                              : forest_.scores[own + k];
            for (std::size_t k = 0; forest_.evidence && k < labels_; ++k)
                evidence[to + k] = strength > 0
                                       ? static_cast<float>(moved_evidence_[n * labels_ + k])
                                       : forest_.evidence[own + k];
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
        for (std::size_t k = 0; k < labels_; ++k) {
            const double here = weights[0] * evidence_[left + k];
            const double there = weights[1] * evidence_[right + k], seen = here + there;
            const double votes = here * scores_[left + k] + there * scores_[right + k];
            scores_[node * labels_ + k] = seen > 0 ? votes / seen : 0;
            if (forest_.evidence) evidence_[node * labels_ + k] = seen / weight_[node];
        }
    }

    // How far it is from the children to the node. A child without evidence says what the node
    // says.
    void look_up(std::size_t node) {
        const std::size_t from = first_child(node) * labels_;
        for (std::size_t i = 0; i < 2 * labels_; ++i) {
            const std::size_t child = from + i, at = node * labels_ + i % labels_;
            if (!(evidence_[child] > 0)) scores_[child] = scores_[at];
            to_parent_[child] = scores_[at] - scores_[child];
            if (forest_.evidence) less_to_parent_[child] = evidence_[at] - evidence_[child];
        }
    }

    // Moves every node as its parent, and a part of the way to it.
    void move(double strength, const std::vector<double>& from, const std::vector<double>& way,
              std::vector<double>& to) {
        to.resize(from.size());
        std::copy_n(from.begin(), labels_, to.begin());
        for (std::size_t n = 0; n < count_; ++n) {
            if (is_leaf(n)) continue;
            write_parts(n, strength);
            const double *own = from.data() + n * labels_, *moved = to.data() + n * labels_;
            for (std::size_t child : {first_child(n), first_child(n) + 1}) {
                const double *start = from.data() + child * labels_,
                             *whole = way.data() + child * labels_;
                double* out = to.data() + child * labels_;
                for (std::size_t k = 0; k < labels_; ++k)
                    out[k] = start[k] + ((moved[k] - own[k]) + parts_[k] * whole[k]);
            }
        }
    }

    // Of the way from a child to the node, label by label.
    void write_parts(std::size_t node, double strength) {
        const auto part = [=](double mass) {
            return std::isinf(strength) ? 1 : strength / (mass + strength);
        };
        if (!forest_.evidence) return std::fill(parts_.begin(), parts_.end(), part(weight_[node]));
        for (std::size_t k = 0; k < labels_; ++k)
            parts_[k] = part(weight_[node] * evidence_[node * labels_ + k]);
    }

    const Forest& forest_;
    std::size_t labels_;
    const double* all_weights_;
    const Node* nodes_ = nullptr;
    const double* weight_ = nullptr;
    std::size_t count_ = 0, leaves_ = 0, first_ = 0;
    std::vector<double> parts_;
    std::vector<double> scores_, evidence_, to_parent_, less_to_parent_;
    std::vector<double> moved_scores_, moved_evidence_;
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

void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                        Strengths strengths, double* scores, std::int64_t* trees,
                        Interruption& interruption) {
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
            if (!forest.evidence) {
                for (std::size_t i = 0; i < width; ++i) to[i] += values[from + i];
                continue;
            }
            for (std::size_t i = 0; i < width; ++i) {
                to[i] += double{known[from + i]} * values[from + i];
                seen[row * width + i] += known[from + i];
            }
        }
    };
    walk_samples(forest, bins, samples, interruption, add);
    for (std::size_t s = 0; s < strengths.count; ++s)
        for (std::size_t row = 0; row < bins.rows; ++row)
            for (std::size_t k = 0; k < c; ++k) {
                const std::size_t at = row * width + s * c + k;
                const double count = forest.evidence ? seen[at] : static_cast<double>(trees[row]);
                *scores++ = count > 0 ? sums[at] / count : sums[at];
            }
}

}  // namespace prefero
