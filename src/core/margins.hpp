// How far labels are ahead of others, which of them came first, and both by the size of the lead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/rank_row.hpp"

namespace prefero {

// Pairs of labels.
struct LabelPairs {
    const std::int64_t* first;
    const std::int64_t* second;
    std::size_t count;
};

// The score of the first label less that of the second: rows x pairs.
void score_margins(const double* scores, std::size_t rows, std::size_t labels,
                   const LabelPairs& pairs, double* margins);

// 1 if the first label stands before the second, 0 if after, 1/2 if they are tied, NaN if either
// is unknown: rows x pairs.
void pair_outcomes(RankMatrix ranks, const LabelPairs& pairs, double* outcomes);

// Margins, and outcomes as of pair_outcomes; a pair that lacks one of them does not count.
struct ScoredPairs {
    const double* margins;
    const double* outcomes;
    const double* weights;  // a row
    std::size_t rows, pairs;
};

// What the pairs of a group add up to.
struct GroupSums {
    double weight;
    double size;   // of the margins, times the weight
    double ahead;  // weight of the pairs whose label ahead came first, half of it if they tied
    double tied;
};

// Adds to each group those pairs whose margins are at most as large as its end, and larger than the
// end before it; the ends ascend, and the last group has all that are larger too.
void sum_groups(const ScoredPairs& pairs, const double* ends, std::size_t groups, GroupSums* sums);

}  // namespace prefero
