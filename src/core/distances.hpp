// Euclidean distances from differences: exactly 0 for equal points, the same bits for any caller.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/interruption.hpp"

namespace prefero {

inline double euclidean(const double* a, const double* b, std::size_t features) {
    double sum = 0;
    for (std::size_t f = 0; f < features; ++f) sum += (a[f] - b[f]) * (a[f] - b[f]);
    return std::sqrt(sum);
}

// distances[q * k + i] is that of query q and case cases[q * k + i]; without cases all of them are
// meant, in their order.
inline void distances_to_cases(const double* queries, std::size_t n_queries, const double* points,
                               std::size_t features, const std::int64_t* cases, std::size_t k,
                               double* distances, Interruption& interruption) {
    for (std::size_t q = 0; q < n_queries; ++q) {
        interruption.spend(k * features);
        for (std::size_t i = 0; i < k; ++i) {
            const auto row = cases ? static_cast<std::size_t>(cases[q * k + i]) : i;
            *distances++ = euclidean(queries + q * features, points + row * features, features);
        }
    }
}

}  // namespace prefero
