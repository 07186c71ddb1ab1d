// How two rankings of the same labels agree, pair of labels by pair of labels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/interruption.hpp"
#include "core/rank_row.hpp"

namespace prefero {

// Pairs of labels that both rows rank, by how the rows order them.
struct PairCounts {
    std::int64_t concordant = 0;
    std::int64_t discordant = 0;
    std::int64_t tied_first = 0;   // tied in the first row only
    std::int64_t tied_second = 0;  // tied in the second row only
    std::int64_t tied_both = 0;
};

// Compares rows of two matrices. Keeps its buffers, so one object serves many rows.
class PairCounter {
  public:
    explicit PairCounter(std::size_t labels)
        : first_(labels),
          second_(labels),
          first_halves_(labels),
          second_halves_(labels),
          histogram_(1 << 15) {}

    PairCounts operator()(const double* first, const double* second, std::size_t labels);

  private:
    std::vector<double> first_, second_;                      // the labels that both rows rank
    std::vector<std::int16_t> first_halves_, second_halves_;  // twice their ranks
    std::vector<std::int16_t> histogram_;                     // of halves; zero between calls
};

// One PairCounts per row, written as five integers in the order of the struct's members.
void count_pairs(RankMatrix first, RankMatrix second, std::int64_t* counts,
                 Interruption& interruption);

}  // namespace prefero
