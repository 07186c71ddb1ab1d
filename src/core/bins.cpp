#include "core/bins.hpp"

#include <algorithm>

namespace prefero {

namespace {

constexpr std::size_t kTogether = 16;  // rows searched at once: one waits while others go on

// The bins of up to kTogether values of one feature, a feature's values `stride` apart. Halves
// without a branch: which way a comparison goes is a coin toss here.
void bins_together(const double* values, std::size_t rows, std::size_t stride, const double* edges,
                   std::size_t count, std::uint8_t* bins) {
    double own[kTogether] = {};
    std::uint32_t below[kTogether] = {};
    for (std::size_t i = 0; i < rows; ++i) own[i] = values[i * stride];
    while (count > 0) {
        const std::size_t half = (count + 1) / 2;
        for (std::size_t i = 0; i < kTogether; ++i)
            below[i] +=
                static_cast<std::uint32_t>(half) * (edges[below[i] + half - 1] < own[i] ? 1u : 0u);
        count -= half;
    }
    for (std::size_t i = 0; i < rows; ++i)
        bins[i * stride] =
            static_cast<std::uint8_t>(own[i] == own[i] ? below[i] : std::uint32_t{kMissingBin});
}

}  // namespace

void bin_values(const double* values, std::size_t rows, const Edges& edges, std::uint8_t* bins) {
    const std::size_t m = edges.features;
    for (std::size_t r = 0; r < rows; r += kTogether)
        for (std::size_t f = 0; f < m; ++f)
            bins_together(values + r * m + f, std::min(kTogether, rows - r), m,
                          edges.values + edges.starts[f],
                          static_cast<std::size_t>(edges.starts[f + 1] - edges.starts[f]),
                          bins + r * m + f);
}

}  // namespace prefero
