#include "core/pair_boost.hpp"

#include <algorithm>
#include <utility>

#include "core/rank_svm.hpp"

namespace prefero {

namespace {

// Writes the Newton steps of the objects and returns whether any is in an active pair. Half the
// ratio of gradient and second derivative is the step of one object alone; both objects of a pair
// move.
bool newton_steps(const std::vector<double>& gradient, const std::vector<double>& active,
                  std::vector<float>& steps) {
    bool any = false;
    for (std::size_t row = 0; row < steps.size(); ++row) {
        const bool moves = active[row] > 0;
        steps[row] = moves ? static_cast<float>(-gradient[row] / (4 * active[row])) : 0;
        any |= moves;
    }
    return any;
}

}  // namespace

std::vector<Tree> boost_pairs(BinMatrix bins, const std::int64_t* levels, const double* weights,
                              Groups groups, const std::vector<std::uint64_t>& seeds,
                              const PairBoosting& options, Interruption& interruption) {
    std::vector<double> scores(bins.rows), gradient(bins.rows), active(bins.rows),
        values(bins.rows);
    std::vector<float> steps(bins.rows);
    std::vector<std::int64_t> by_score(bins.rows);
    const GrowOptions grow{false, options.search, options.stopping};
    // Objects without an active pair weigh nothing.
    TrainingData data = TrainingData::numbers(bins, steps.data(), active.data());
    std::vector<Tree> trees;
    for (std::uint64_t seed : seeds) {
        sort_by_score(scores.data(), groups, by_score.data());
        pair_hinge({scores.data(), levels, weights, by_score.data(), groups}, gradient.data(),
                   active.data(), interruption);
        if (!newton_steps(gradient, active, steps)) break;
        data.set_numbers(steps.data(), active.data());
        trees.push_back(std::move(grow_trees(data, grow, &seed, 1, interruption).front()));
        std::fill(values.begin(), values.end(), 0.0);
        add_tree_scores(trees.back(), 1, bins, values.data(), interruption);
        for (std::size_t row = 0; row < bins.rows; ++row)
            scores[row] += options.learning_rate * values[row];
    }
    return trees;
}

}  // namespace prefero
