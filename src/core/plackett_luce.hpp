// The Plackett-Luce distribution: labels are chosen one after another, each with a probability
// proportional to its worth among those left.
#pragma once

#include <cstdint>

#include "core/aggregate.hpp"
#include "core/interruption.hpp"

namespace prefero {

struct PlackettLuceOptions {
    double prior;  // choices among all labels that every label wins beforehand; positive
    double tolerance;
    std::size_t max_rounds;
};

// Log-worths of the labels of each neighbourhood, by the minorise-maximise steps of Hunter 2004.
// The members of a bucket are each chosen among all labels from that bucket on, those of the
// last bucket not at all. Writes them rounded like mean votes, with worths that sum to 1, and
// the rounds that each set took.
void fit_plackett_luce_batch(RankMatrix ranks, Neighborhoods sets, PlackettLuceOptions options,
                             double* log_worth, std::int64_t* rounds, Interruption& interruption);

}  // namespace prefero
