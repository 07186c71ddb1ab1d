#include <algorithm>
#include <numeric>
#include <utility>

#include "core/sample.hpp"
#include "core/summed_trees.hpp"

namespace prefero {

void find_node_cuts(const SummedSpread& criterion, const double* sums,
                    const std::uint16_t* features, std::size_t nodes, std::size_t asked,
                    const bool* categorical, ChildLimits limits, NodeCuts found,
                    Interruption& interruption) {
    const std::size_t width = criterion.width;
    std::vector<double> left(width);
    for (std::size_t i = 0; i < nodes; ++i) {
        double& most = found.quality[i] = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < asked; ++k) {
            const std::uint16_t feature = features[i * asked + k];
            if (feature == kNoFeature) continue;
            interruption.spend(kBins * width);
            const double* own = sums + (i * asked + k) * kBins * width;
            const SummedCut best =
                best_summed_cut(criterion, own, categorical[feature], limits, left.data());
            found.varied[i] += best.varies;
            if (!(best.quality > most)) continue;
            most = best.quality;
            found.feature[i] = feature;
            const std::uint8_t cut[] = {best.cut.left, best.cut.right, best.cut.missing_left,
                                        best.cut.missing_seen};
            std::copy_n(cut, 4, found.cut + i * 4);
            found.categories[i] = best.left;
            std::copy(left.begin(), left.end(), found.left + i * width);
        }
    }
}

LevelTree::LevelTree(std::uint64_t seed, const double* totals, const SummedSpread& criterion,
                     std::vector<std::uint8_t> categorical, std::size_t max_features,
                     const Stopping& stopping)
    : criterion_(criterion),
      categorical_(std::move(categorical)),
      max_features_(max_features),
      stopping_(stopping) {
    builder_.begin();
    open(0, mixed(~seed), {totals, totals + criterion.width}, open_);
}

void LevelTree::open(std::size_t node, std::uint64_t key, std::vector<double> total,
                     std::vector<OpenNode>& level) {
    builder_.set_weight(node, total[kWeightSum]);
    if (!stopping_.may_split(depth_, total[kExampleSum]) || criterion_.pure(total.data())) return;
    OpenNode opened;
    opened.node = node;
    opened.key = key;
    opened.features.resize(categorical_.size());
    std::iota(opened.features.begin(), opened.features.end(), std::uint16_t{0});
    if (max_features_ < opened.features.size()) {
        std::vector<std::uint64_t> drawn(opened.features.size());
        for (std::size_t f = 0; f < drawn.size(); ++f)
            drawn[f] = mixed(key + kRandomStep * (f + 1));
        std::stable_sort(opened.features.begin(), opened.features.end(),
                         [&](auto a, auto b) { return drawn[a] < drawn[b]; });
    }
    opened.left.resize(total.size());
    opened.total = std::move(total);
    level.push_back(std::move(opened));
}

bool LevelTree::accepted(const OpenNode& node) const {
    return criterion_.accepts(node.quality, node.total.data()) &&
           stopping_.enough(criterion_.decrease(node.quality), builder_.weight(0));
}

// Features are tried until enough of them vary; at the root until one can be split.
bool LevelTree::asks(const OpenNode& node) const {
    if (node.asked == node.features.size()) return false;
    return node.varied < max_features_ || (depth_ == 0 && !accepted(node));
}

const std::vector<LevelTree::Request>& LevelTree::requests(std::size_t most_bytes) {
    requests_.clear();
    std::vector<std::size_t> asking, wanted(open_.size());
    std::size_t most = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const OpenNode& node = open_[i];
        if (!asks(node)) continue;
        asking.push_back(i);
        const std::size_t lacking = max_features_ > node.varied ? max_features_ - node.varied : 1;
        wanted[i] = std::min(lacking, node.features.size() - node.asked);
        most = std::max(most, std::min(lacking, node.features.size()));
    }
    if (asking.empty()) return requests_;
    builder_.number_leaves();
    Tree tree;
    builder_.write(tree);
    const std::size_t bytes = most * kBins * criterion_.width * sizeof(double);
    const std::size_t together = std::max<std::size_t>(1, most_bytes / bytes);
    for (std::size_t start = 0; start < asking.size(); start += together) {
        const std::size_t count = std::min(together, asking.size() - start);
        Request request;
        request.asked = most;
        request.places.assign(builder_.leaves(), -1);
        request.features.assign(count * most, kNoFeature);
        request.nodes.assign(asking.begin() + static_cast<std::ptrdiff_t>(start),
                             asking.begin() + static_cast<std::ptrdiff_t>(start + count));
        for (std::size_t i = 0; i < count; ++i) {
            const OpenNode& node = open_[request.nodes[i]];
            request.places[static_cast<std::size_t>(tree.nodes[node.node].child)] =
                static_cast<std::int32_t>(i);
            std::copy_n(&node.features[node.asked], wanted[request.nodes[i]],
                        &request.features[i * most]);
        }
        requests_.push_back(std::move(request));
    }
    return requests_;
}

void LevelTree::learn(const Request& request, const NodeCuts& found) {
    const std::size_t width = criterion_.width;
    for (std::size_t i = 0; i < request.nodes.size(); ++i) {
        OpenNode& node = open_[request.nodes[i]];
        for (std::size_t k = 0; k < request.asked; ++k)
            node.asked += request.features[i * request.asked + k] != kNoFeature;
        node.varied += static_cast<std::size_t>(found.varied[i]);
        if (!(found.quality[i] > node.quality)) continue;
        node.quality = found.quality[i];
        const std::uint8_t* cut = found.cut + i * 4;
        node.split = {found.feature[i], categorical_[found.feature[i]] != 0,
                      Cut{0, cut[0], cut[1], cut[2] != 0, cut[3] != 0},
                      criterion_.decrease(node.quality)};
        node.categories = found.categories[i];
        node.left.assign(found.left + i * width, found.left + (i + 1) * width);
    }
}

void LevelTree::split() {
    if (std::any_of(open_.begin(), open_.end(), [&](const OpenNode& node) { return asks(node); }))
        return;
    std::vector<OpenNode> below;
    const std::vector<OpenNode> level = std::move(open_);
    ++depth_;
    for (const OpenNode& node : level) {
        if (!accepted(node)) continue;
        std::vector<double> left = node.left, right = node.total;
        for (std::size_t k = 0; k < right.size(); ++k) right[k] -= left[k];
        const bool larger_left = left[kExampleSum] >= right[kExampleSum];
        const std::size_t child =
            builder_.split(node.node, node.split, node.categories, larger_left);
        open(child, mixed(node.key + kRandomStep), std::move(left), below);
        open(child + 1, mixed(node.key + 2 * kRandomStep), std::move(right), below);
    }
    open_ = std::move(below);
}

Tree LevelTree::so_far() {
    Tree tree;
    builder_.number_leaves();
    builder_.write(tree);
    tree.scores.assign(builder_.leaves(), 0.0f);
    return tree;
}

Tree LevelTree::grown(const double* sums, std::size_t stride, const LeafVotes& layout) {
    Tree tree = so_far();
    const std::size_t labels = layout.labels;
    const double others = labels > 1 ? static_cast<double>(labels - 1) : 1;
    tree.scores.resize(builder_.leaves() * labels);
    if (layout.known_at) tree.comparisons.resize(tree.scores.size());
    for (std::size_t leaf = 0; leaf < builder_.leaves(); ++leaf) {
        const double* own = sums + leaf * stride;
        for (std::size_t j = 0; j < labels; ++j) {
            double score = own[layout.votes_at + j] / own[kWeightSum] / others;
            if (layout.known_at) {
                const double known = own[layout.known_at + j] / own[kWeightSum] / others;
                score = known > 0 ? score / known : 0;
                tree.comparisons[leaf * labels + j] = static_cast<float>(known);
            }
            tree.scores[leaf * labels + j] = static_cast<float>(score);
        }
    }
    return tree;
}

}  // namespace prefero
