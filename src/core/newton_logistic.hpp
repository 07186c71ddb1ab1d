// What a step of Newton's method asks of many logistic regressions on the same rows, in single
// precision, which is enough for most of the way to a solution.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interruption.hpp"
#include "core/logistic.hpp"

namespace prefero {

// The columns of all rows, and the coefficients of some of the problems, both row by row.
struct LinearModels {
    const float* x;
    std::size_t columns;
    const std::int64_t* problems;
    const float* coefficients;
    std::size_t count;
};

// Writes the gradients of the models' losses, one after the other.
void logistic_gradients(const LogisticProblems& data, const LinearModels& models, double* gradients,
                        Interruption& interruption);

// Writes the upper triangles of the Hessians, row by row, one after the other.
void logistic_hessians(const LogisticProblems& data, const LinearModels& models, double* triangles,
                       Interruption& interruption);

}  // namespace prefero
