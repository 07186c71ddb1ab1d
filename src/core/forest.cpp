#include "core/forest.hpp"

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

template <class Criterion, class... Arguments>
Tree grow_with(const Sample& sample, const GrowOptions& options, std::uint64_t seed,
               Arguments... arguments) {
    Criterion criterion(sample, options.stopping, arguments...);
    return Grower<Criterion>(sample, criterion, options.search, options.stopping, seed).grow();
}

// Picks the version compiled for this number of blocks.
template <std::size_t Width = 8>
Tree grow_spread(const Sample& sample, const GrowOptions& options, std::uint64_t seed, double unit,
                 bool signs) {
    if constexpr (Width > 0) {
        if (sample.set.width != Width)
            return grow_spread<Width - 1>(sample, options, seed, unit, signs);
    }
    return grow_with<Spread<Width>>(sample, options, seed, unit, signs);
}

}  // namespace

std::size_t lane_width(CriterionKind criterion, std::size_t labels) {
    return blocks(kVectorLane + vector_length(criterion, labels));
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
    const double unit = unit_length(criterion, ranks.labels);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        float* row = rows + r * stride;
        double square = 0;
        for (std::size_t k = 0; k < length; ++k) square += row[kVectorLane + k] * row[kVectorLane + k];
        row[kWeightLane] = 1;
        row[kLengthLane] = static_cast<float>(square / unit);
    }
}

Tree grow_tree(const TrainingSet& set, const GrowOptions& options, std::uint64_t seed) {
    const Sample sample(set, options.bootstrap, seed);
    const double unit = unit_length(options.criterion, set.labels);
    // Another stream than the one that drew the sample.
    const std::uint64_t draws = ~seed;
    return grow_spread(sample, options, draws, unit, options.criterion != CriterionKind::kSpearman);
}

}  // namespace prefero
