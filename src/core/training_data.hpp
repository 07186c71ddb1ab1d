// What trees are grown from: the bins of each row, what a criterion sums of it, and what it says
// in a leaf. Shared by the trees of a forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/bins.hpp"
#include "core/mallows.hpp"
#include "core/rank_row.hpp"
#include "core/simd.hpp"

namespace prefero {

enum class CriterionKind {
    kKendall,
    kSpearman,
    kScores,
    kMallows,
    kMallowsEm,
    kEntropy,
    kVariance,
    kNewton
};

// What stands in the first floats of a SIMD row, before its vector.
constexpr std::size_t kWeightAt = 0;
constexpr std::size_t kLengthAt = 1;  // weight times the squared length, 1 if complete
constexpr std::size_t kVectorAt = 2;

// So many rows of equal weight are summed in floats: whole numbers up to 16 times as large, and
// fractions that lose a few bits. More of them are summed in doubles.
constexpr double kMostInFloats = 1 << 20;

class TrainingData {
  public:
    // Rankings, for the criteria of rankings. `categorical` tells for each feature whether
    // its bins are categories; without weights every row weighs 1. `votes`, one number per row and
    // label, are what leaves average in place of the votes of the rankings; null for those. The
    // criterion kScores sums `scores`, which are finite for every row and label.
    static TrainingData rankings(CriterionKind criterion, BinMatrix bins, const bool* categorical,
                                 RankMatrix ranks, const double* weights,
                                 const float* votes = nullptr, const float* scores = nullptr);

    // One number per row, for the variance; all features are numeric.
    static TrainingData numbers(BinMatrix bins, const float* numbers, const double* weights);

    // Rows whose derivatives by the scores of labels, for Newton steps, are written into samples.
    static TrainingData derivatives(BinMatrix bins, const bool* categorical, std::size_t labels,
                                    const double* weights);

    // Takes other numbers and weights for the same rows.
    void set_numbers(const float* numbers, const double* weights);

    CriterionKind criterion() const { return criterion_; }
    std::size_t rows() const { return rows_; }
    std::size_t features() const { return features_; }
    std::size_t labels() const { return labels_; }
    std::size_t width() const { return width_; }  // blocks per row
    double unit() const { return unit_; }         // squared length of a complete strict ranking
    const ThetaTable& thetas() const { return *thetas_; }                 // of the Mallows criteria
    RankMatrix ranks() const { return {ranks_.data(), rows_, labels_}; }  // of its EM alone

    // Where the vector of a SIMD row begins and ends.
    std::size_t vector_begin() const;
    std::size_t vector_end() const;

    // The largest number in a SIMD row if all of them are whole, else 0.
    std::size_t largest_whole() const { return largest_whole_; }

    bool categorical(std::size_t feature) const { return categorical_[feature]; }
    bool any_categorical() const;
    bool any_unknown() const { return !comparisons_.empty(); }  // labels that a row does not rank
    bool weighted() const { return !weights_.empty(); }
    bool whole_weights() const { return whole_weights_; }  // a weight of 2 is two examples

    const std::uint8_t* bins(std::size_t row) const { return bins_.data() + row * features_; }
    const Block* simd_row(std::size_t row) const { return simd_rows_.data() + place(row) * width_; }
    const float* votes(std::size_t row) const {
        return votes_.data() + (own_votes_ ? row : place(row)) * labels_;
    }
    const float* comparisons(std::size_t row) const {
        return comparisons_.data() + place(row) * labels_;
    }
    double weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    // Of the entropy: the number of a row's ranking, and how many different ones there are.
    std::size_t id(std::size_t row) const { return static_cast<std::size_t>(ids_[row]); }
    std::size_t distinct() const { return distinct_; }

  private:
    TrainingData(CriterionKind criterion, BinMatrix bins, std::size_t labels);

    // Where what rows say stands: rows of the same ranking share it if there are few rankings.
    std::size_t place(std::size_t row) const { return shared_ ? id(row) : row; }

    RankMatrix number(RankMatrix ranks, std::vector<double>& distinct);
    void write_vectors(RankMatrix ranks, const float* scores);
    void set_weights(const double* weights);

    CriterionKind criterion_;
    std::size_t rows_, features_, labels_, width_;
    double unit_;
    bool whole_weights_ = true, shared_ = false, own_votes_ = false;
    std::size_t distinct_ = 0, largest_whole_ = 0;
    std::vector<std::uint8_t> bins_, categorical_;
    std::vector<Block> simd_rows_;
    std::vector<float> votes_, comparisons_;
    std::vector<std::int32_t> ids_;
    std::vector<double> weights_, ranks_;
    std::optional<ThetaTable> thetas_;
};

}  // namespace prefero
