#include "core/scan.hpp"

namespace prefero {

PREFERO_CLONES bool NodeHistogram::sort_many(NodeRows node, std::size_t feature) {
    const std::uint8_t* column = sample_.bins.data() + feature;
    const std::size_t stride = sample_.data.features();
    std::uint32_t places[kBins] = {};
    for (std::size_t i = 0; i < node.count; ++i) {
        bins_[i] = column[node.rows[i] * stride];
        ++places[bins_[i]];
    }
    std::uint32_t end = 0;
    count_ = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const std::uint32_t rows = places[bin];
        places[bin] = end;
        end += rows;
        order_[count_] = static_cast<std::uint8_t>(bin);
        ends_[count_] = end;
        count_ += rows > 0;
    }
    if (count_ < 2) return false;
    for (std::size_t i = 0; i < node.count; ++i) sorted_[places[bins_[i]]++] = node.rows[i];
    return true;
}

}  // namespace prefero
