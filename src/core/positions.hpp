// From numbers that order labels to positions.
#pragma once

#include <cstdint>

#include "core/rank_row.hpp"

namespace prefero {

// What the members of a bucket of b labels with a labels above it share: the mean of their
// positions, a + (b + 1) / 2, or the smallest, a + 1.
enum class Bucket { kMean, kSmallest };

// Positions of each row's labels. Unknown labels stay NaN and take no position.
void bucket_positions(RankMatrix ranks, Bucket bucket, double* positions);

// Whether a row holds equal ranks.
bool have_ties(RankMatrix ranks);

// How many labels each known label of a row beats less how many beat it, 0 for unknown ones;
// returns how many are known.
std::size_t row_wins(const double* row, std::size_t labels, double* wins);

// What each label of a row has: the labels it beats less those that beat it, and those it is
// compared with, both over c - 1; nothing if it is unknown.
void row_votes(RankMatrix ranks, double* votes, double* comparisons);

// Strict ranks 1..c by descending score; equal scores go to the lower label index first.
// Scores hold no NaN.
void strict_ranks(const double* scores, std::size_t rows, std::size_t labels, std::int64_t* ranks);

}  // namespace prefero
