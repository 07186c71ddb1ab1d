// Exponentials and logarithms of many values at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/simd.hpp"

namespace prefero {

// The exponential of a value, at most 80 in size, in single precision, within 1e-5 of itself, and
// within 2.5e-7 if the value is at most 1 in size. 2^(n + f) = 2^n exp(f ln(2)).
PREFERO_INLINE float short_exponential(float value) {
    constexpr float kLog2E = 0x1.715476p0f, kLn2 = 0x1.62e430p-1f;
    constexpr float kRound = 0x1.8p23f;  // leaves the nearest integer in the low bits
    const float power = value * kLog2E, rounded = power + kRound;
    const float r = (power - (rounded - kRound)) * kLn2;
    float series = 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1;
    series = series * r + 1;
    std::uint32_t whole, bits;
    std::memcpy(&whole, &rounded, sizeof whole);
    std::memcpy(&bits, &series, sizeof bits);
    bits += whole << 23;
    std::memcpy(&series, &bits, sizeof bits);
    return series;
}

// Replaces each value, at most 700 in size, by its exponential.
void exponentiate(double* values, std::size_t count);

// Replaces each value, positive and not below the smallest normal number, by its logarithm.
void take_logarithms(double* values, std::size_t count);

// The logarithm of the product of factors between 1 and exp(size), with `size` at most 170.
double log_product(const double* factors, std::size_t count, double size);

}  // namespace prefero
