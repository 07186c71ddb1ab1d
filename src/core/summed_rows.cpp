#include "core/summed_rows.hpp"

namespace prefero {

template <class Number>
void add_histograms(const SummedRows<Number>& rows, AskingNodes nodes, double* sums,
                    Interruption& interruption) {
    const std::size_t width = rows.width;
    for (std::size_t r = 0; r < rows.bins.rows; ++r) {
        const std::int32_t place = nodes.places[rows.leaves[r]];
        if (place < 0 || rows.drawn[r] == 0) continue;
        interruption.spend(nodes.asked * (width + 4));
        const double times = rows.drawn[r];
        const Number* statistics = rows.statistics + r * rows.stride;
        const std::uint8_t* bins = rows.bins.data + r * rows.bins.features;
        const auto node = static_cast<std::size_t>(place) * nodes.asked;
        for (std::size_t k = 0; k < nodes.asked; ++k) {
            const std::uint16_t feature = nodes.features[node + k];
            if (feature == kNoFeature) continue;
            double* to = sums + ((node + k) * kBins + bins[feature]) * width;
            for (std::size_t i = 0; i < width; ++i) to[i] += times * double{statistics[i]};
        }
    }
}

template <class Number>
void add_leaves(const SummedRows<Number>& rows, double* sums, Interruption& interruption) {
    for (std::size_t r = 0; r < rows.bins.rows; ++r) {
        if (rows.drawn[r] == 0) continue;
        interruption.spend(rows.width);
        const double times = rows.drawn[r];
        const Number* statistics = rows.statistics + r * rows.stride;
        double* to = sums + static_cast<std::size_t>(rows.leaves[r]) * rows.width;
        for (std::size_t i = 0; i < rows.width; ++i) to[i] += times * double{statistics[i]};
    }
}

template void add_histograms(const SummedRows<float>&, AskingNodes, double*, Interruption&);
template void add_histograms(const SummedRows<double>&, AskingNodes, double*, Interruption&);
template void add_leaves(const SummedRows<float>&, double*, Interruption&);
template void add_leaves(const SummedRows<double>&, double*, Interruption&);

}  // namespace prefero
