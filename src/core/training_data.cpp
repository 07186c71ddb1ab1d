#include "core/training_data.hpp"

#include <algorithm>
#include <cmath>

#include "core/targets.hpp"

namespace prefero {

namespace {

std::size_t vector_length(CriterionKind criterion, std::size_t labels) {
    if (criterion == CriterionKind::kVariance) return 1;
    const bool by_label =
        criterion == CriterionKind::kSpearman || criterion == CriterionKind::kScores;
    return by_label ? labels : sign_pairs(labels).size();
}

bool of_mallows(CriterionKind criterion) {
    return criterion == CriterionKind::kMallows || criterion == CriterionKind::kMallowsEm;
}

std::size_t simd_width(CriterionKind criterion, std::size_t labels) {
    // The weight before the first derivatives, the examples before the second.
    if (criterion == CriterionKind::kNewton) return 2 * blocks(1 + labels);
    const std::size_t width = blocks(kVectorAt + vector_length(criterion, labels));
    return of_mallows(criterion) ? 2 * width : width;
}

double unit_length(CriterionKind criterion, std::size_t labels) {
    if (labels < 2) return 1;
    const auto c = static_cast<double>(labels);
    if (criterion == CriterionKind::kSpearman) return (c - 1) * c * (c + 1) / 3;
    if (criterion == CriterionKind::kNewton || criterion == CriterionKind::kScores) return 1;
    return static_cast<double>(sign_pairs(labels).size());
}

// The finest grid of powers of two on which the votes of all rows that are summed in floats add up
// exactly, so that the sums of a set do not depend on the order of its rows.
float vote_grid(std::size_t rows, std::size_t labels) {
    const double summed = std::min(static_cast<double>(rows), kMostInFloats);
    const double most = summed * static_cast<double>(labels);
    return static_cast<float>(std::exp2(std::floor(24 - std::log2(most))));
}

// The difference of the Borda votes of each pair of labels, on a grid.
void write_differences(RankMatrix ranks, float grid, float* rows, std::size_t stride) {
    std::vector<float> votes(ranks.labels);
    const std::vector<LabelPair> pairs = sign_pairs(ranks.labels);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        write_borda({ranks.row(r), 1, ranks.labels}, votes.data(), ranks.labels);
        float* out = rows + r * stride;
        for (const LabelPair& pair : pairs)
            *out++ = std::nearbyint(grid * (votes[pair.first] - votes[pair.second]) / 2) / grid;
    }
}

// Whether so many rows must repeat rankings often, even if all that labels have are there.
bool few_rankings(RankMatrix ranks) {
    std::size_t most = 8;
    for (std::size_t k = 2; k <= ranks.labels && most <= ranks.rows; ++k) most *= k;
    return most <= ranks.rows;
}

bool is_count(double weight) { return weight < 65536 && weight == std::floor(weight); }

}  // namespace

TrainingData::TrainingData(CriterionKind criterion, BinMatrix bins, std::size_t labels)
    : criterion_(criterion),
      rows_(bins.rows),
      features_(bins.features),
      labels_(labels),
      width_(simd_width(criterion, labels)),
      unit_(unit_length(criterion, labels)),
      bins_(bins.data, bins.data + bins.rows * bins.features),
      categorical_(bins.features) {}

bool TrainingData::any_categorical() const {
    return std::find(categorical_.begin(), categorical_.end(), 1) != categorical_.end();
}

std::size_t TrainingData::vector_begin() const {
    return criterion_ == CriterionKind::kNewton ? 1 : kVectorAt;
}

std::size_t TrainingData::vector_end() const {
    return criterion_ == CriterionKind::kNewton ? 1 + labels_ : width_ * kSimdWidth;
}

TrainingData TrainingData::rankings(CriterionKind criterion, BinMatrix bins,
                                    const bool* categorical, RankMatrix ranks,
                                    const double* weights, const float* votes,
                                    const float* scores) {
    TrainingData data(criterion, bins, ranks.labels);
    std::copy_n(categorical, bins.features, data.categorical_.begin());
    std::vector<double> distinct;
    const RankMatrix said = data.number(ranks, distinct);
    data.write_vectors(said, scores);
    const std::size_t entries = said.rows * said.labels;
    const bool complete = std::all_of(said.data, said.data + entries, known);
    data.votes_.resize(entries);
    if (!complete) data.comparisons_.resize(entries);
    write_votes(said, data.votes_.data(), complete ? nullptr : data.comparisons_.data());
    data.own_votes_ = votes != nullptr;
    if (votes) data.votes_.assign(votes, votes + ranks.rows * ranks.labels);
    if (of_mallows(criterion)) data.thetas_.emplace(ranks.labels);
    if (criterion == CriterionKind::kMallowsEm)
        data.ranks_.assign(ranks.data, ranks.data + ranks.rows * ranks.labels);
    if (weights) data.set_weights(weights);
    return data;
}

void TrainingData::set_weights(const double* weights) {
    weights_.assign(weights, weights + rows_);
    whole_weights_ = std::all_of(weights, weights + rows_, is_count);
}

TrainingData TrainingData::derivatives(BinMatrix bins, const bool* categorical, std::size_t labels,
                                       const double* weights) {
    TrainingData data(CriterionKind::kNewton, bins, labels);
    std::copy_n(categorical, bins.features, data.categorical_.begin());
    data.set_weights(weights);
    return data;
}

// Numbers the rankings where that is of use, and returns those that rows say.
RankMatrix TrainingData::number(RankMatrix ranks, std::vector<double>& distinct) {
    shared_ = criterion_ != CriterionKind::kScores && few_rankings(ranks);
    if (!shared_ && criterion_ != CriterionKind::kEntropy) return ranks;
    ids_.resize(ranks.rows);
    const std::vector<std::size_t> firsts = write_ids(ranks, ids_.data());
    distinct_ = firsts.size();
    if (!shared_) return ranks;
    for (std::size_t row : firsts)
        distinct.insert(distinct.end(), ranks.row(row), ranks.row(row) + ranks.labels);
    return {distinct.data(), firsts.size(), ranks.labels};
}

// Rankings as the criterion sums them.
void TrainingData::write_vectors(RankMatrix ranks, const float* scores) {
    simd_rows_.resize(ranks.rows * width_);
    const std::size_t stride = width_ * kSimdWidth, length = vector_length(criterion_, labels_);
    float* rows = simd_rows_.data()->value;
    if (criterion_ == CriterionKind::kScores)
        for (std::size_t r = 0; r < ranks.rows; ++r)
            std::copy_n(scores + r * labels_, labels_, rows + r * stride + kVectorAt);
    else if (criterion_ == CriterionKind::kSpearman)
        write_borda(ranks, rows + kVectorAt, stride);
    else
        write_signs(ranks, sign_pairs(labels_), rows + kVectorAt, stride);
    if (of_mallows(criterion_))
        write_differences(ranks, vote_grid(rows_, labels_),
                          rows + width_ / 2 * kSimdWidth + kVectorAt, stride);
    bool complete = true;  // and strict: such rows alone are as long as that
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        float* row = rows + r * stride;
        double square = 0;
        for (std::size_t k = 0; k < length; ++k) square += row[kVectorAt + k] * row[kVectorAt + k];
        row[kWeightAt] = 1;
        row[kLengthAt] = static_cast<float>(square / unit_);
        complete = complete && row[kLengthAt] == 1;
    }
    if (complete && criterion_ == CriterionKind::kKendall) largest_whole_ = 1;
    if (complete && criterion_ == CriterionKind::kSpearman)
        largest_whole_ = std::max<std::size_t>(1, labels_ - 1);
}

TrainingData TrainingData::numbers(BinMatrix bins, const float* numbers, const double* weights) {
    TrainingData data(CriterionKind::kVariance, bins, 1);
    data.simd_rows_.resize(data.rows_ * data.width_);
    data.votes_.resize(data.rows_);
    data.set_numbers(numbers, weights);
    return data;
}

void TrainingData::set_numbers(const float* numbers, const double* weights) {
    weights_.assign(weights, weights + rows_);
    whole_weights_ = false;
    std::copy_n(numbers, rows_, votes_.begin());
    for (std::size_t r = 0; r < rows_; ++r) {
        float* row = simd_rows_[r].value;
        row[kWeightAt] = 1;
        row[kLengthAt] = numbers[r] * numbers[r];
        row[kVectorAt] = numbers[r];
    }
}

}  // namespace prefero
