// Votes and pair sums of weighted sets of rankings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/extend.hpp"
#include "core/interruption.hpp"
#include "core/rank_row.hpp"

namespace prefero {

// Weighted sets of rows of one rank matrix: set q holds the members starts[q] .. starts[q + 1].
struct Neighborhoods {
    const std::int64_t* starts;
    const std::int64_t* rows;
    const double* weights;
    std::size_t count;

    std::size_t size(std::size_t set) const {
        return static_cast<std::size_t>(starts[set + 1] - starts[set]);
    }
};

// Rounds to a grid of 2^-26. Labels with equal votes so stay equal whatever the order of
// summation: the added number leaves no bits for what is finer.
inline double on_vote_grid(double votes) {
    constexpr double kShift = 1.5 * (1 << 26);
    return (votes + kShift) - kShift;
}

// The mean of votes with that sum, on the grid; the middle vote if there is no weight.
inline double mean_votes(double sum, double weight, std::size_t labels) {
    return weight > 0 ? on_vote_grid(sum / weight) : static_cast<double>(labels + 1) / 2;
}

// Generalized Borda votes of each row: (m + 1 - position)(c + 1)/(m + 1) for the m labels it
// ranks, (c + 1)/2 for the others.
void borda_votes(const OrderedRows& rows, std::size_t n_rows, double* votes);

// Mean votes of each neighbourhood.
void borda_batch(RankMatrix ranks, Neighborhoods sets, double* votes, Interruption& interruption);

// sums[i * c + j] is the weight of the rows that put label i strictly before label j.
void pair_sums(RankMatrix ranks, const double* weights, double* sums, Interruption& interruption);

// Improves an order of labels by moving one label at a time to the place where the fewest
// preferences are broken, until no move helps. Labels stand best first.
void improve_order(const double* sums, std::size_t labels, std::int64_t* order);

// The same for many orders, each with the probabilities that the first label of each pair comes
// first; pairs stand as (0, 1), (0, 2), ... What is no number counts as 1/2.
void improve_orders(const double* before, std::size_t count, std::size_t labels,
                    std::int64_t* orders, Interruption& interruption);

}  // namespace prefero
