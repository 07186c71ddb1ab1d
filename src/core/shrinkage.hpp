// Hierarchical shrinkage (Agarwal et al. 2022): the leaves of grown trees drawn towards the means
// of the nodes above them.
//
// With strength lambda, s*(child) = s*(parent) + (s(child) - s(parent)) m / (m + lambda), m the
// weight of the parent's rows times its comparisons; s is the mean of the votes below a node, by
// weight and comparisons. They are drawn the same way. Strength 0 leaves all as it is, infinity
// gives every leaf what its root says.
#pragma once

#include "core/tree.hpp"

namespace prefero {

struct Strengths {
    const double* values;
    std::size_t count;
};

// Writes the scores of all leaves, and unless every row ranks every label their comparisons,
// strength after strength. `weight` is that of the nodes.
void shrink(const Forest& forest, const double* weight, Strengths strengths, float* scores,
            float* comparisons, Interruption& interruption);

// What predict_out_of_bag writes for the trees shrunk by each strength: strengths x rows x labels,
// in one walk.
void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                        Strengths strengths, double* scores, std::int64_t* trees,
                        Interruption& interruption);

}  // namespace prefero
