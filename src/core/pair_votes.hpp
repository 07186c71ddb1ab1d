// Votes of weighted sets of rankings from the pairs of labels that are observed, and only those.
#pragma once

#include "core/aggregate.hpp"
#include "core/interruption.hpp"

namespace prefero {

// For each set and pair of labels, the weight for one order minus that for the other, over the
// weight that orders the pair plus `prior` times the weight of the set: a share in (-1, 1), 0
// for a pair no row orders. The vote of a label is (c + 1)/2 plus half the sum of its shares: with
// complete rankings and no prior its mean Borda vote. Theta is that of the Mallows distribution
// whose mean distance to the order of the votes is the one the shares state; it may be null.
void pair_votes_batch(RankMatrix ranks, Neighborhoods sets, double prior, double* votes,
                      double* theta, Interruption& interruption);

// The order of the votes of `pair_votes_batch`, improved as long as moving one label elsewhere
// adds to the shares that agree with it: with complete rankings, until it is a local minimum of
// Kendall's distance. Writes positions from the end, so that larger is better.
void kemeny_batch(RankMatrix ranks, Neighborhoods sets, double prior, double* votes,
                  Interruption& interruption);

// Some rows of a rank matrix.
struct LeftOut {
    const std::int64_t* rows;
    std::size_t count;
};

// For each of some rows, the votes of `pair_votes_batch` or `kemeny_batch` over the whole matrix
// less a weight of one of that row.
void left_out_votes(RankMatrix ranks, const double* weights, LeftOut cases, double prior,
                    bool kemeny, double* votes, Interruption& interruption);

}  // namespace prefero
