// Rankings sorted once, and their nearest extensions to rankings of all labels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rank_row.hpp"

namespace prefero {

using Label = std::uint32_t;

// The labels that one row ranks, best first, bucket after bucket.
struct OrderedRow {
    const Label* label;
    const Label* bucket_end;  // for each place, the place after the last of its bucket
    std::size_t known;
};

// The rows of a rank matrix in that form.
class OrderedRows {
  public:
    explicit OrderedRows(RankMatrix ranks);

    std::size_t labels() const { return labels_; }
    OrderedRow operator[](std::size_t i) const {
        return {label_.data() + i * labels_, bucket_end_.data() + i * labels_, known_[i]};
    }

  private:
    std::size_t labels_;
    std::vector<Label> label_, bucket_end_;
    std::vector<std::size_t> known_;
};

// A strict ranking of all labels, read both ways. Places count from 0.
struct Center {
    explicit Center(std::size_t labels);

    // Orders the labels by descending votes, equal ones by index; says whether that changed it.
    bool sort_by(const double* votes);

    std::vector<Label> label;  // at each place
    std::vector<Label> place;  // of each label
};

// Pairs of labels that the row orders strictly and the center the other way round.
std::int64_t discordant_pairs(OrderedRow row, const Center& center);

// Completes rankings as close to a center as Kendall's distance allows (Cheng et al. 2009,
// Proposition 1). Keeps its buffers, so one object serves many rows.
class Extender {
  public:
    explicit Extender(std::size_t labels) : place_(labels), gap_(labels), present_(labels) {}

    // Writes the mean positions of all labels in the extension; buckets of the row stay whole.
    // Returns the discordant pairs that the inserted labels take part in.
    std::int64_t operator()(OrderedRow row, const Center& center, double* positions);

  private:
    std::int64_t find_gaps(OrderedRow row, const Center& center);

    std::vector<Label> place_;  // in the center, of the row's labels
    std::vector<Label> gap_;    // known labels before each inserted one, in center order
    std::vector<std::uint8_t> present_;
    std::size_t inserted_ = 0;
};

// Extends every row to its own center or, if there is just one, to that one. A center is a
// row of votes, higher is better.
void extend(RankMatrix ranks, const double* centers, std::size_t n_centers, double* positions);

}  // namespace prefero
