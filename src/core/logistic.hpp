// Many logistic regressions on the same rows: their losses and derivatives by their scores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interruption.hpp"

namespace prefero {

// Rows of scores, a column per problem. A sign is the class, 0 where a row takes no part. A row has
// one weight, or one in each problem.
struct LogisticProblems {
    const std::int8_t* signs;
    const double* weights;
    bool weight_a_problem;
    std::size_t rows, problems;
};

// Writes the weight of the rows of either class: that of +1 of each problem, then that of -1.
void sign_weights(const LogisticProblems& data, double* weights, Interruption& interruption);

// Adds the losses of the problems to `losses` and replaces each score by minus the derivative of
// the loss by it. Writes the second derivatives unless `curvatures` is null.
void logistic_derivatives(const LogisticProblems& data, double* scores, double* losses,
                          double* curvatures, Interruption& interruption);

}  // namespace prefero
