// Features as bins: numbers in the order of the values, or categories.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prefero {

constexpr std::size_t kBins = 256;
constexpr std::size_t kMissingBin = 255;

// Row after row.
struct BinMatrix {
    const std::uint8_t* data;
    std::size_t rows, features;
};

// Edges of all features, one after the other: feature f has edges[starts[f]..starts[f + 1]),
// ascending, at most 254 of them.
struct Edges {
    const double* values;
    const std::int64_t* starts;
    std::size_t features;
};

// The number of edges below each value: rows x features; NaN is the missing bin. A value equal
// to an edge lies below it.
void bin_values(const double* values, std::size_t rows, const Edges& edges, std::uint8_t* bins);

}  // namespace prefero
