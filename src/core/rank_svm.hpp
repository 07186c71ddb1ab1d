// The pair loss of the ranking SVM: a squared hinge over all ordered pairs of each group, with
// sums over the active pairs by a Fenwick tree instead of a list of pairs: O(L log L) a group.
#pragma once

#include "core/groups.hpp"
#include "core/interruption.hpp"

namespace prefero {

// The objects, their scores, and for each group its rows by ascending score. Level 0 is the
// best place of a group; equal levels are tied. A pair weighs the product of its objects' weights.
struct ScoredOrders {
    const double* scores;
    const std::int64_t* levels;
    const double* weights;
    const std::int64_t* by_score;
    Groups groups;
};

// Writes, group by group, the rows in ascending order of their scores.
void sort_by_score(const double* scores, Groups groups, std::int64_t* by_score);

// The weighted sum over pairs of max(0, 1 - (s_better - s_worse))^2. Writes its gradient by score,
// and for each object the weight of its active pairs: half the diagonal of the Hessian.
double pair_hinge(ScoredOrders orders, double* gradient, double* active,
                  Interruption& interruption);

// Writes the product of the (generalized) Hessian by score with a vector; `active` as above.
void pair_hinge_hessian(ScoredOrders orders, const double* active, const double* vector,
                        double* product, Interruption& interruption);

}  // namespace prefero
