// Exponentials and logarithms of many values at once.
#pragma once

#include <cstddef>

namespace prefero {

// Replaces each value, at most 700 in size, by its exponential.
void exponentiate(double* values, std::size_t count);

// Replaces each value, positive and not below the smallest normal number, by its logarithm.
void take_logarithms(double* values, std::size_t count);

// The logarithm of the product of factors between 1 and exp(size), with `size` at most 170.
double log_product(const double* factors, std::size_t count, double size);

}  // namespace prefero
