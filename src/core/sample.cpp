#include "core/sample.hpp"

#include <algorithm>

namespace prefero {

std::vector<std::uint16_t> bootstrap_counts(std::uint64_t seed, std::size_t rows) {
    std::vector<std::uint16_t> counts(rows, 0);
    Random random(seed);
    for (std::size_t i = 0; i < rows; ++i) ++counts[random.below(static_cast<std::uint32_t>(rows))];
    return counts;
}

Sample::Sample(const TrainingSet& training, bool bootstrap, std::uint64_t seed) : set(training) {
    const std::vector<std::uint16_t> drawn =
        bootstrap ? bootstrap_counts(seed, set.rows) : std::vector<std::uint16_t>(set.rows, 1);
    rows = set.rows - static_cast<std::size_t>(std::count(drawn.begin(), drawn.end(), 0));
    origin.reserve(rows);
    counts.reserve(rows);
    bins.resize(rows * set.features);
    lanes.resize(rows * set.width);
    std::uint8_t* bin = bins.data();
    Block* lane = lanes.data();
    for (std::size_t r = 0; r < set.rows; ++r) {
        if (drawn[r] == 0) continue;
        origin.push_back(static_cast<std::uint32_t>(r));
        bin = std::copy_n(set.bins + r * set.features, set.features, bin);
        const double given = set.weights ? set.weights[r] : 1.0;
        const auto weight = static_cast<float>(drawn[r] * given);
        counts.push_back(set.whole_weights ? static_cast<std::uint32_t>(weight) : drawn[r]);
        const Block* from = set.lanes + r * set.width;
        for (std::size_t k = 0; k < set.width; ++k)
            store(*lane++, broadcast(weight) * load(from[k]));
    }
}

}  // namespace prefero
