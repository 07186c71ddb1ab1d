#include "core/pair_boost.hpp"

#include <algorithm>
#include <utility>

#include "core/criteria/sums.hpp"
#include "core/rank_svm.hpp"

namespace prefero {

namespace {

// With one label and votes that are numbers, the criterion of votes is the weighted variance.
constexpr CriterionKind kVariance = CriterionKind::kSpearman;

// The objects that are in an active pair, as rows to grow a regression tree from.
class NewtonRows {
  public:
    explicit NewtonRows(BinMatrix bins) : all_(bins), categorical_(bins.features, 0) {}

    // Half the ratio of gradient and second derivative is the Newton step of one object alone;
    // both objects of a pair move.
    TrainingSet gather(const std::vector<double>& gradient, const std::vector<double>& active) {
        bins_.clear();
        weights_.clear();
        steps_.clear();
        for (std::size_t row = 0; row < all_.rows; ++row) {
            if (!(active[row] > 0)) continue;
            const std::uint8_t* own = all_.data + row * all_.features;
            bins_.insert(bins_.end(), own, own + all_.features);
            weights_.push_back(active[row]);
            steps_.push_back(static_cast<float>(-gradient[row] / (4 * active[row])));
        }
        lanes_.assign(steps_.size(), Block{});
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            lanes_[i].lane[kWeightLane] = 1;
            lanes_[i].lane[kLengthLane] = steps_[i] * steps_[i];
            lanes_[i].lane[kVectorLane] = steps_[i];
        }
        return {steps_.size(), all_.features,       1,
                bins_.data(),  categorical_.data(), lane_width(kVariance, 1),
                lanes_.data(), steps_.data(),       nullptr,
                nullptr,       weights_.data(),     false,
                nullptr};
    }

  private:
    BinMatrix all_;
    std::vector<std::uint8_t> bins_, categorical_;
    std::vector<double> weights_;
    std::vector<float> steps_;
    std::vector<Block> lanes_;
};

// Writes the value of the leaf that each row reaches.
void tree_values(const Tree& tree, BinMatrix bins, std::vector<double>& values) {
    const std::int64_t nodes[] = {0, static_cast<std::int64_t>(tree.nodes.size())};
    const std::int64_t leaves[] = {0, static_cast<std::int64_t>(tree.scores.size())};
    const std::int64_t sets[] = {0, 0};
    Forest forest{1,       1,
                  nodes,   leaves,
                  sets,    tree.nodes.data(),
                  nullptr, nullptr,
                  nullptr, tree.scores.data(),
                  nullptr};
    const std::vector<Node> paths = self_looping(forest);
    forest.paths = paths.data();
    std::fill(values.begin(), values.end(), 0.0);
    predict_scores(forest, bins, values.data());
}

}  // namespace

std::vector<Tree> boost_pairs(BinMatrix bins, const std::int64_t* levels, Groups groups,
                              const std::vector<std::uint64_t>& seeds,
                              const PairBoosting& options) {
    static_assert(kVectorLane + 1 <= kLanes, "a row of one number is one block");
    std::vector<double> scores(bins.rows), gradient(bins.rows), active(bins.rows),
        values(bins.rows);
    std::vector<std::int64_t> by_score(bins.rows);
    const GrowOptions grow{kVariance, false, options.search, options.stopping};
    NewtonRows rows(bins);
    std::vector<Tree> trees;
    for (std::uint64_t seed : seeds) {
        sort_by_score(scores.data(), groups, by_score.data());
        pair_hinge({scores.data(), levels, by_score.data(), groups}, gradient.data(),
                   active.data());
        const TrainingSet set = rows.gather(gradient, active);
        if (set.rows == 0) break;
        trees.push_back(std::move(grow_trees(set, grow, &seed, 1).front()));
        tree_values(trees.back(), bins, values);
        for (std::size_t row = 0; row < bins.rows; ++row)
            scores[row] += options.learning_rate * values[row];
    }
    return trees;
}

}  // namespace prefero
