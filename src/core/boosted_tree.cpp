#include <algorithm>
#include <utility>

#include "core/sample.hpp"
#include "core/summed_trees.hpp"

namespace prefero {

BoostedTree::BoostedTree(std::uint64_t seed, std::vector<std::uint8_t> categorical,
                         std::size_t labels, const BoostingOptions& options)
    : options_(options),
      criterion_{SummedNewton::kFirst + 2 * labels, options.penalty},
      categorical_(std::move(categorical)),
      totals_(criterion_.width),
      asked_(1) {
    Random random(~seed);
    draw_features(random, categorical_.size(), options.tree_features, features_);
    builder_.begin();
}

bool BoostedTree::full() const {
    const std::size_t most = options_.stopping.max_leaves;
    return most && builder_.leaves() >= most;
}

bool BoostedTree::may_split(std::size_t node, std::size_t depth) const {
    return options_.stopping.may_split(depth, totals_[node * criterion_.width + kExampleSum]);
}

void BoostedTree::learn(const double* histograms, Interruption& interruption) {
    const std::size_t size = features_.size() * kBins * criterion_.width;
    if (waiting_.empty()) {  // the root
        for (std::size_t bin = 0; bin < kBins; ++bin)
            for (std::size_t k = 0; k < criterion_.width; ++k)
                totals_[k] += histograms[bin * criterion_.width + k];
        builder_.set_weight(0, totals_[kWeightSum]);
        open(0, 0, {histograms, histograms + size}, interruption);
    }
    for (Children& children : waiting_) {
        Sums smaller(histograms, histograms + size);
        Sums larger = std::move(children.histograms);
        for (std::size_t i = 0; i < size; ++i) larger[i] -= smaller[i];
        if (!children.smaller_first) std::swap(smaller, larger);
        open(children.first + 1, children.depth, std::move(larger), interruption);
        open(children.first, children.depth, std::move(smaller), interruption);
        histograms += size;
    }
    advance();
}

// Looks for the best cut of a node, the first of features that are alike.
void BoostedTree::open(std::size_t node, std::size_t depth, Sums histograms,
                       Interruption& interruption) {
    if (!may_split(node, depth)) return;
    const ChildLimits limits{static_cast<double>(options_.stopping.min_leaf),
                             options_.category_sets};
    const double own = criterion_.gain(total(node));
    double reached = -std::numeric_limits<double>::infinity();
    OpenNode opened;
    Sums left(criterion_.width);
    for (std::size_t k = 0; k < features_.size(); ++k) {
        interruption.spend(kBins * criterion_.width);
        const bool categorical = categorical_[features_[k]] != 0;
        const SummedCut best =
            best_summed_cut(criterion_, histograms.data() + k * kBins * criterion_.width,
                            categorical, limits, left.data());
        if (!SummedNewton::Rules::better(best.quality, reached) ||
            !SummedNewton::Rules::accepts(best.quality, own))
            continue;
        reached = best.quality;
        opened.split = {features_[k], categorical, best.cut,
                        SummedNewton::Rules::decrease(best.quality, own)};
        opened.categories = best.left;
        opened.left = left;
    }
    if (opened.left.empty()) return;
    opened.node = node;
    opened.depth = depth;
    opened.histograms = std::move(histograms);
    frontier_.push_back(std::move(opened));
}

// Splits until histograms are needed: the node that gains most, or, where leaves are not counted,
// all of them at once.
void BoostedTree::advance() {
    waiting_.clear();
    while (waiting_.empty() && !frontier_.empty() && !full()) {
        std::vector<OpenNode> chosen;
        if (options_.stopping.max_leaves) {
            const auto best = std::max_element(frontier_.begin(), frontier_.end(),
                                               [](const OpenNode& a, const OpenNode& b) {
                                                   return a.split.decrease < b.split.decrease;
                                               });
            chosen.push_back(std::move(*best));
            frontier_.erase(best);
        } else {
            chosen.swap(frontier_);
        }
        for (OpenNode& node : chosen) split(std::move(node));
        if (full()) waiting_.clear();
    }
    ask();
}

void BoostedTree::split(OpenNode chosen) {
    const Sums& left = chosen.left;
    const double* own = total(chosen.node);
    const bool larger_left = 2 * left[kExampleSum] >= own[kExampleSum];
    const std::size_t child =
        builder_.split(chosen.node, chosen.split, chosen.categories, larger_left);
    totals_.insert(totals_.end(), left.begin(), left.end());
    for (std::size_t k = 0; k < left.size(); ++k)
        totals_.push_back(total(chosen.node)[k] - left[k]);
    for (const std::size_t node : {child, child + 1})
        builder_.set_weight(node, total(node)[kWeightSum]);
    const std::size_t larger = larger_left ? child : child + 1, depth = chosen.depth + 1;
    if (may_split(larger, depth))
        waiting_.push_back({child, depth, !larger_left, std::move(chosen.histograms)});
}

void BoostedTree::ask() {
    asked_.clear();
    if (waiting_.empty()) return;
    const Tree tree = so_far();
    for (const Children& children : waiting_)
        asked_.push_back(tree.nodes[children.first + (children.smaller_first ? 0 : 1)].child);
}

Tree BoostedTree::so_far() {
    Tree tree;
    builder_.number_leaves();
    builder_.write(tree);
    tree.scores.assign(builder_.leaves(), 0.0f);
    return tree;
}

// A tree that is a leaf by itself says nothing.
Tree BoostedTree::grown() {
    Tree tree = so_far();
    const std::size_t labels = criterion_.labels();
    tree.scores.assign(builder_.leaves() * labels, 0.0f);
    for (std::size_t node = 0; node < builder_.size() && builder_.size() > 1; ++node) {
        if (!builder_.is_leaf(node)) continue;
        const double* first = total(node) + SummedNewton::kFirst;
        float* scores =
            tree.scores.data() + static_cast<std::size_t>(tree.nodes[node].child) * labels;
        for (std::size_t j = 0; j < labels; ++j)
            scores[j] =
                newton_step(first[j], first[labels + j], options_.penalty, options_.learning_rate);
    }
    return tree;
}

}  // namespace prefero
