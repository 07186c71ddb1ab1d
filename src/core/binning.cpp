#include "core/binning.hpp"

#include "core/sample.hpp"

namespace prefero {

namespace {

// Halves without a branch: which way a comparison goes is a coin toss here.
std::uint8_t bin_of(double value, const double* edges, std::size_t count) {
    const double* first = edges;
    while (count > 0) {
        const std::size_t half = (count + 1) / 2;
        first += first[half - 1] < value ? half : 0;
        count -= half;
    }
    return static_cast<std::uint8_t>(first - edges);
}

}  // namespace

void bin_values(const double* values, std::size_t rows, const Edges& edges, std::uint8_t* bins) {
    const std::size_t m = edges.features;
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t f = 0; f < m; ++f) {
            const double value = values[r * m + f];
            const auto count = static_cast<std::size_t>(edges.starts[f + 1] - edges.starts[f]);
            bins[r * m + f] = value == value ? bin_of(value, edges.values + edges.starts[f], count)
                                             : std::uint8_t{kMissingBin};
        }
}

}  // namespace prefero
