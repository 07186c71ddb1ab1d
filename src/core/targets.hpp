// Rankings as vectors whose sums a tree can use: what a criterion reads of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rank_row.hpp"

namespace prefero {

// Above this many labels the signs of an evenly spread subset of the pairs stand for all.
constexpr std::size_t kMostLabelsInFull = 45;

struct LabelPair {
    std::uint32_t first, second;
};

// The pairs of labels whose signs make a vector: all of them up to kMostLabelsInFull labels,
// else as many, label i against i + d for distances d spread over 1..c/2, so that every label
// meets equally many others.
std::vector<LabelPair> sign_pairs(std::size_t labels);

// Signs of the given pairs of each row.
void write_signs(RankMatrix ranks, const std::vector<LabelPair>& pairs, float* signs,
                 std::size_t stride);

// What labels win against each other, row by row: for each known label the number of labels it
// stands before minus the number it stands after, over c - 1. With comparisons not null, also the
// number of labels it is compared with, over c - 1: zero for an unknown label.
void write_votes(RankMatrix ranks, float* votes, float* comparisons);

// Centred votes of the generalized Borda count (Cheng et al. 2009, Proposition 2), zero for unknown
// labels: whole numbers if all are known, so that sums are exact and equal cuts are found equal.
void write_borda(RankMatrix ranks, float* votes, std::size_t stride);

// Numbers the distinct rows 0, 1, ... by first occurrence; returns the first row of each number.
std::vector<std::size_t> write_ids(RankMatrix ranks, std::int32_t* ids);

}  // namespace prefero
