// Features as bins: numbers in the order of the values, or categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prefero {

constexpr std::size_t kBins = 256;
constexpr std::size_t kMissingBin = 255;

// Row after row.
struct BinMatrix {
    const std::uint8_t* data;
    std::size_t rows, features;
};

// Values of rows, those of a row or of a feature so far apart.
struct ValueMatrix {
    const double* data;
    std::size_t rows;
    std::ptrdiff_t row_step, feature_step;
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
void bin_values(const ValueMatrix& values, const Edges& edges, std::uint8_t* bins);

// The edges of a feature: half way between neighbouring values, if these make fewer bins than the
// most, else between those at quantiles. NaN is no value; the values given are used up.
std::vector<double> numeric_edges(std::vector<double>& values, std::size_t most_bins);

}  // namespace prefero
