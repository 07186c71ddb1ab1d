// Growing a tree: one grower for every criterion.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/categories.hpp"
#include "core/forest.hpp"
#include "core/scan.hpp"

namespace prefero {

template <class Criterion>
class Grower {
  public:
    Grower(const Sample& sample, Criterion& criterion, const Search& search,
           const Stopping& stopping, std::uint64_t seed)
        : sample_(sample),
          criterion_(criterion),
          search_(search),
          stopping_(stopping),
          random_(seed),
          bins_(sample),
          rows_(sample.rows),
          buffer_(sample.rows),
          features_(sample.set.features) {
        std::iota(rows_.begin(), rows_.end(), 0u);
        std::iota(features_.begin(), features_.end(), std::uint16_t{0});
    }

    Tree grow() {
        reserve();
        add_nodes(1);
        open({0, sample_.rows, 0, 0});
        std::size_t leaves = 1;
        while (!frontier_.empty()) {
            Open next = pop();
            if (stopping_.max_leaves && leaves >= stopping_.max_leaves) {
                make_leaf(next.span);
            } else {
                split(next);
                ++leaves;
            }
        }
        if (!tree_.sets.empty()) tree_.sets.resize(tree_.nodes.size(), -1);
        return std::move(tree_);
    }

  private:
    // A node's rows are rows_[begin..end).
    struct Span {
        std::size_t begin, end, node, depth;
    };

    struct Choice {
        bool found = false;
        std::uint16_t feature = 0;
        bool categories = false;
        bool missing_seen = false;
        float quality = -std::numeric_limits<float>::infinity();
        Cut cut;
        BinSet left;
        double decrease = 0;
    };

    struct Open {
        Span span;
        Choice choice;
    };

    // Room for a leaf for every other row: fully grown trees seldom need more.
    void reserve() {
        const std::size_t leaves = sample_.rows / 2;
        tree_.nodes.reserve(2 * leaves);
        tree_.weight.reserve(2 * leaves);
        tree_.decrease.reserve(2 * leaves);
        tree_.scores.reserve(leaves * sample_.set.labels);
    }

    void add_nodes(std::size_t count) {
        tree_.nodes.resize(tree_.nodes.size() + count);
        tree_.weight.resize(tree_.nodes.size());
        tree_.decrease.resize(tree_.nodes.size());
    }

    // Decides whether and how a new node will be split: nearly all the time is spent here.
    PREFERO_CLONES void open(const Span& span) {
        const std::uint32_t* rows = rows_.data() + span.begin;
        const std::size_t count = span.end - span.begin;
        if (count == 1) {
            tree_.weight[span.node] = sample_.weight(*rows);
            return make_leaf(span);
        }
        criterion_.enter(rows, count);
        tree_.weight[span.node] = criterion_.weight();
        const NodeRows node{rows, count, examples(rows, count)};
        if (span.depth >= stopping_.max_depth || node.examples < stopping_.min_split ||
            node.examples < 2 * stopping_.min_leaf || criterion_.pure())
            return make_leaf(span);
        const Choice choice = choose(node, span.node == 0);
        if (!choice.found) return make_leaf(span);
        frontier_.push_back({span, choice});
        if (stopping_.max_leaves) std::push_heap(frontier_.begin(), frontier_.end(), worse);
    }

    std::size_t examples(const std::uint32_t* rows, std::size_t count) const {
        if (stopping_.min_split <= 2 && stopping_.min_leaf <= 1)
            return std::max<std::size_t>(count, 2);
        std::size_t total = 0;
        for (std::size_t i = 0; i < count; ++i) total += sample_.counts[rows[i]];
        return total;
    }

    static bool worse(const Open& a, const Open& b) {
        return a.choice.decrease < b.choice.decrease;
    }

    Open pop() {
        if (stopping_.max_leaves) std::pop_heap(frontier_.begin(), frontier_.end(), worse);
        Open next = frontier_.back();
        frontier_.pop_back();
        return next;
    }

    // Tries features in random order until enough of them vary in the node; at the root until
    // one is found that may be split.
    PREFERO_INLINE Choice choose(NodeRows node, bool root) {
        Choice best;
        std::size_t tried = 0;
        const std::size_t m = features_.size();
        for (std::size_t k = 0; k < m; ++k) {
            if (tried >= search_.max_features && (best.found || !root)) break;
            if (search_.max_features < m || search_.random_cuts)
                std::swap(features_[k],
                          features_[k + random_.below(static_cast<std::uint32_t>(m - k))]);
            const std::uint16_t feature = features_[k];
            if (!bins_.read(node, feature)) continue;
            ++tried;
            consider(cut_of(feature, node), best);
            // All cuts of two rows are the same one.
            if (node.count == 2 && best.found) break;
        }
        return best;
    }

    // The best test on one feature, whose bins are read.
    PREFERO_INLINE Choice cut_of(std::uint16_t feature, NodeRows node) {
        Choice choice;
        choice.feature = feature;
        choice.missing_seen = bins_.missing();
        choice.categories = sample_.set.categorical[feature];
        if (choice.categories) {
            const CategoryCut cut = best_categories(criterion_, bins_, sample_, node,
                                                    stopping_.min_leaf, search_.category_sets);
            choice.left = cut.left;
            choice.quality = cut.quality;
        } else {
            choice.cut = best_cut(criterion_, bins_, node, stopping_.min_leaf,
                                  search_.random_cuts ? &random_ : nullptr);
            choice.quality = choice.cut.quality;
        }
        return choice;
    }

    PREFERO_INLINE void consider(Choice choice, Choice& best) const {
        if (!(choice.quality > best.quality) || !criterion_.accepts(choice.quality)) return;
        choice.decrease = criterion_.decrease(choice.quality);
        if (stopping_.min_decrease > 0 &&
            choice.decrease < stopping_.min_decrease * static_cast<double>(tree_.weight[0]))
            return;
        choice.found = true;
        best = choice;
    }

    void split(const Open& open) {
        const Span& span = open.span;
        const Choice& choice = open.choice;
        const Cut& cut = choice.cut;
        const std::size_t middle =
            choice.categories
                ? partition(span, choice.feature,
                            [&](auto bin) { return choice.left.contains(bin); })
                : partition(span, choice.feature, [&](auto bin) {
                      return bin <= cut.left || (cut.missing_left && bin == kMissingBin);
                  });
        const std::size_t child = tree_.nodes.size();
        add_nodes(2);
        tree_.decrease[span.node] = static_cast<float>(choice.decrease);
        const bool larger_left = middle - span.begin >= span.end - middle;
        tree_.nodes[span.node] = choice.categories
                                     ? category_node(choice, child, span.node, larger_left)
                                     : numeric_node(choice, child, larger_left);
        this->open({middle, span.end, child + 1, span.depth + 1});
        this->open({span.begin, middle, child, span.depth + 1});
    }

    // Values that were never missing here go with the larger child when they are.
    static Node numeric_node(const Choice& choice, std::size_t child, bool larger_left) {
        const Cut& cut = choice.cut;
        // Half way between the bins, or behind the last bin if only missing values go right.
        const bool alone = cut.right == kMissingBin;
        const int right = alone ? 2 * (kMissingBin - 1) - cut.left : cut.right;
        const bool missing_left = choice.missing_seen ? cut.missing_left : larger_left;
        return {static_cast<std::int32_t>(child), choice.feature,
                static_cast<std::uint8_t>((cut.left + right) / 2),
                missing_left ? kMissingLeft : std::uint8_t{0}};
    }

    Node category_node(const Choice& choice, std::size_t child, std::size_t at, bool larger_left) {
        tree_.sets.resize(tree_.nodes.size(), -1);
        tree_.sets[at] = static_cast<std::int32_t>(tree_.categories.size());
        tree_.categories.push_back(choice.left);
        const bool missing_left =
            choice.left.contains(kMissingBin) || (!choice.missing_seen && larger_left);
        return {static_cast<std::int32_t>(child), choice.feature, 0,
                static_cast<std::uint8_t>(kCategories | (missing_left ? kMissingLeft : 0))};
    }

    template <class GoesLeft>
    std::size_t partition(const Span& span, std::uint16_t feature, GoesLeft goes_left) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.set.features;
        std::uint32_t* left = rows_.data() + span.begin;
        std::uint32_t* right = buffer_.data();
        for (std::size_t i = span.begin; i < span.end; ++i) {
            const std::uint32_t row = rows_[i];
            const bool here = goes_left(column[row * stride]);
            *left = row;
            *right = row;
            left += here;
            right += !here;
        }
        std::copy(buffer_.data(), right, left);
        return static_cast<std::size_t>(left - rows_.data());
    }

    void make_leaf(const Span& span) {
        const TrainingSet& set = sample_.set;
        const std::size_t c = set.labels;
        Node& node = tree_.nodes[span.node];
        node = {static_cast<std::int32_t>(tree_.scores.size() / c), 0, 0, kLeaf};
        tree_.scores.resize(tree_.scores.size() + c);
        float* scores = tree_.scores.data() + tree_.scores.size() - c;
        for (std::size_t i = span.begin; i < span.end; ++i) {
            const float weight = sample_.weight(rows_[i]);
            const float* votes = set.votes + sample_.origin[rows_[i]] * c;
            for (std::size_t k = 0; k < c; ++k) scores[k] += weight * votes[k];
        }
        const float scale = 1 / tree_.weight[span.node];
        for (std::size_t k = 0; k < c; ++k) scores[k] *= scale;
        if (set.evidence) write_evidence(span, scores);
    }

    // Votes are shares of the comparisons seen, and their number is kept beside them.
    void write_evidence(const Span& span, float* scores) {
        const std::size_t c = sample_.set.labels;
        tree_.evidence.resize(tree_.evidence.size() + c);
        float* evidence = tree_.evidence.data() + tree_.evidence.size() - c;
        for (std::size_t i = span.begin; i < span.end; ++i) {
            const float weight = sample_.weight(rows_[i]);
            const float* seen = sample_.set.evidence + sample_.origin[rows_[i]] * c;
            for (std::size_t k = 0; k < c; ++k) evidence[k] += weight * seen[k];
        }
        const float scale = 1 / tree_.weight[span.node];
        for (std::size_t k = 0; k < c; ++k) {
            evidence[k] *= scale;
            scores[k] = evidence[k] > 0 ? scores[k] / evidence[k] : 0;
        }
    }

    const Sample& sample_;
    Criterion& criterion_;
    const Search& search_;
    const Stopping& stopping_;
    Random random_;
    FeatureBins bins_;
    std::vector<std::uint32_t> rows_, buffer_;
    std::vector<std::uint16_t> features_;
    std::vector<Open> frontier_;
    Tree tree_;
};

}  // namespace prefero
