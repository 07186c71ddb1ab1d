// The pairwise logistic loss of scores, and its derivatives.
//
// Of two labels that a row ranks, the better one comes first with probability
// 1 / (1 + exp(-(difference of the scores))); a tie counts half for either order. A pair weighs
// 1 / (labels - 1), so that a label weighs as much in every set of labels; where it is known what
// labels are worth, it weighs that times the difference of its worths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interruption.hpp"
#include "core/rank_row.hpp"
#include "core/simd.hpp"

namespace prefero {

// Rows of ranks with scores that change.
class ScoredRanks {
  public:
    // All rows start with the same scores. `utilities` is what labels are worth, row by row like
    // the ranks, or null.
    ScoredRanks(RankMatrix ranks, const double* start, const double* utilities = nullptr);

    std::size_t rows() const { return rows_; }
    std::size_t labels() const { return labels_; }
    double* scores() { return scores_.data(); }

    // Writes the first derivatives of the losses of some rows by their scores, and the second ones
    // without those by two different scores: a row every `stride` floats, `second` floats apart.
    void derivatives(const std::uint32_t* rows, std::size_t count, float* to, std::size_t second,
                     std::size_t stride, Interruption& interruption);

    // Writes the loss of each row.
    void losses(double* to, Interruption& interruption);

  private:
    void read(const std::uint32_t* rows, std::size_t count, std::size_t eight);

    std::size_t rows_, labels_;
    float pair_weight_;
    std::vector<float> ranks_, utilities_;
    std::vector<double> scores_;
    std::vector<double> worths_;  // of some rows, label by label
    // Of eight rows, a label each.
    std::vector<Block> own_ranks_, own_utilities_, exps_, values_, first_, second_;
};

}  // namespace prefero
