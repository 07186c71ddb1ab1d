#include "core/forest.hpp"

#include <cmath>

#include "core/criteria/entropy.hpp"
#include "core/criteria/mallows.hpp"
#include "core/criteria/spread.hpp"
#include "core/grow.hpp"
#include "core/targets.hpp"

namespace prefero {

namespace {

// Squared length of the vector of a complete strict ranking.
double unit_length(CriterionKind criterion, std::size_t labels) {
    if (labels < 2) return 1;
    const auto c = static_cast<double>(labels);
    if (criterion == CriterionKind::kSpearman) return c * (c + 1) / (3 * (c - 1));
    return static_cast<double>(sign_pairs(labels).size());
}

std::size_t vector_length(CriterionKind criterion, std::size_t labels) {
    return criterion == CriterionKind::kSpearman ? labels : sign_pairs(labels).size();
}

// What trees are grown from.
struct Task {
    const TrainingSet& set;
    const GrowOptions& options;
    const std::uint64_t* seeds;
    std::size_t trees;
};

template <class Criterion, class... Arguments>
std::vector<Tree> grow_with(const Task& task, Arguments... arguments) {
    Sample sample(task.set);
    Criterion criterion(sample, task.options.stopping, arguments...);
    Grower<Criterion> grower(sample, criterion, task.options);
    std::vector<Tree> trees;
    trees.reserve(task.trees);
    for (std::size_t t = 0; t < task.trees; ++t) {
        sample.draw(task.options.bootstrap, task.seeds[t]);
        // Another stream than the one that drew the sample.
        trees.push_back(grower.grow(~task.seeds[t]));
    }
    return trees;
}

// Picks the version compiled for this number of blocks.
template <std::size_t Width = 8>
std::vector<Tree> grow_spread(const Task& task, double unit, bool signs) {
    if constexpr (Width > 0) {
        if (task.set.width != Width) return grow_spread<Width - 1>(task, unit, signs);
    }
    return grow_with<Spread<Width>>(task, unit, signs);
}

// The finest grid of powers of two on which the votes of all rows add up exactly in a float, so
// that the sums of a set do not depend on the order of its rows.
float vote_grid(RankMatrix ranks) {
    const double most = static_cast<double>(ranks.rows) * static_cast<double>(ranks.labels);
    return static_cast<float>(std::exp2(std::floor(24 - std::log2(most))));
}

// The difference of the Borda votes of each pair of labels.
void write_differences(RankMatrix ranks, float* rows, std::size_t stride) {
    std::vector<float> votes(ranks.labels);
    const float grid = vote_grid(ranks), half = static_cast<float>(ranks.labels - 1) / 2;
    const std::vector<LabelPair> pairs = sign_pairs(ranks.labels);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        write_borda({ranks.row(r), 1, ranks.labels}, votes.data(), ranks.labels);
        float* out = rows + r * stride;
        for (const LabelPair& pair : pairs)
            *out++ = std::nearbyint(grid * half * (votes[pair.first] - votes[pair.second])) / grid;
    }
}

}  // namespace

std::size_t lane_width(CriterionKind criterion, std::size_t labels) {
    const std::size_t width = blocks(kVectorLane + vector_length(criterion, labels));
    return criterion == CriterionKind::kMallows ? 2 * width : width;
}

void write_lanes(CriterionKind criterion, RankMatrix ranks, Block* lanes) {
    const std::size_t width = lane_width(criterion, ranks.labels);
    const std::size_t length = vector_length(criterion, ranks.labels);
    const std::size_t stride = width * kLanes;
    float* rows = lanes->lane;
    if (criterion == CriterionKind::kSpearman)
        write_borda(ranks, rows + kVectorLane, stride);
    else
        write_signs(ranks, sign_pairs(ranks.labels), rows + kVectorLane, stride);
    if (criterion == CriterionKind::kMallows)
        write_differences(ranks, rows + width / 2 * kLanes + kVectorLane, stride);
    const double unit = unit_length(criterion, ranks.labels);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        float* row = rows + r * stride;
        double square = 0;
        for (std::size_t k = 0; k < length; ++k)
            square += row[kVectorLane + k] * row[kVectorLane + k];
        row[kWeightLane] = 1;
        row[kLengthLane] = static_cast<float>(square / unit);
    }
}

std::vector<Tree> grow_trees(const TrainingSet& set, const GrowOptions& options,
                             const std::uint64_t* seeds, std::size_t count) {
    const Task task{set, options, seeds, count};
    const double unit = unit_length(options.criterion, set.labels);
    switch (options.criterion) {
        case CriterionKind::kKendall:
            return grow_spread(task, unit, true);
        case CriterionKind::kSpearman:
            return grow_spread(task, unit, false);
        case CriterionKind::kMallows:
            return grow_with<MallowsCriterion>(task, unit);
        default:
            return grow_with<EntropyCriterion>(task, unit);
    }
}

}  // namespace prefero
