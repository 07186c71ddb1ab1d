#include "core/sample.hpp"

#include <algorithm>
#include <limits>

namespace prefero {

void bootstrap_counts(std::uint64_t seed, std::vector<std::uint16_t>& counts) {
    std::fill(counts.begin(), counts.end(), std::uint16_t{0});
    Random random(seed);
    const auto rows = static_cast<std::uint32_t>(counts.size());
    for (std::uint32_t i = 0; i < rows; ++i) ++counts[random.below(rows)];
}

double Sample::weight(RowSpan span) const {
    double total = 0;
    for (std::uint32_t row : span) total += weights[row];
    return total;
}

void Sample::draw(bool bootstrap, std::uint64_t seed, Interruption& interruption) {
    drawn_.assign(data.rows(), 1);
    if (bootstrap) bootstrap_counts(seed, drawn_);
    origin.resize(data.rows());
    rows = 0;
    for (std::uint32_t r = 0; r < data.rows(); ++r) {  // no branch: it would be a coin toss
        origin[rows] = r;
        rows += static_cast<unsigned>(drawn_[r] > 0) & static_cast<unsigned>(data.weight(r) > 0);
    }
    bins.resize(rows * data.features());
    lanes.resize(rows * data.width());
    counts.resize(rows);
    weights.resize(rows);
    double total = 0, least = std::numeric_limits<double>::infinity();
    std::uint8_t* bin = bins.data();
    Block* lane = lanes.data();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t r = origin[i];
        interruption.spend(data.features() + kLanes * data.width());
        bin = std::copy_n(data.bins(r), data.features(), bin);
        weights[i] = drawn_[r] * data.weight(r);
        counts[i] = data.whole_weights() ? static_cast<std::uint32_t>(weights[i]) : drawn_[r];
        total += weights[i];
        least = std::min(least, weights[i]);
        const Eight weight = broadcast(static_cast<float>(weights[i]));
        const Block* from = data.lanes(r);
        for (std::size_t k = 0; k < data.width(); ++k) store(*lane++, weight * load(from[k]));
    }
    most_in_floats = least * kMostInFloats;
    counts_in_floats =
        data.whole_weights() && total <= std::min(most_in_floats, 16 * kMostInFloats);
}

}  // namespace prefero
