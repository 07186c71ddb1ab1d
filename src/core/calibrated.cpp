#include "core/calibrated.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace prefero {

namespace {

// Adds one row. Nothing branches on an unknown label, so the loop vectorises.
void add_row(const double* offsets, std::size_t labels, double weight, double* sum, double* side,
             double* total) {
    for (std::size_t j = 0; j < labels; ++j) {
        const double part = known(offsets[j]) ? weight : 0.0;
        const double offset = known(offsets[j]) ? offsets[j] : 0.0;
        sum[j] += part * offset;
        side[j] += part * static_cast<double>(preference(0.0, offset));
        total[j] += part;
    }
}

}  // namespace

void mean_offsets(RankMatrix offsets, Neighborhoods sets, double* mean_offset, double* mean_side,
                  Interruption& interruption) {
    const std::size_t labels = offsets.labels;
    std::vector<double> total(labels);
    for (std::size_t q = 0; q < sets.count; ++q, mean_offset += labels, mean_side += labels) {
        interruption.spend(sets.size(q) * labels);
        std::fill_n(mean_offset, labels, 0.0);
        std::fill_n(mean_side, labels, 0.0);
        std::fill(total.begin(), total.end(), 0.0);
        for (std::int64_t k = sets.starts[q]; k < sets.starts[q + 1]; ++k) {
            const auto row = static_cast<std::size_t>(sets.rows[k]);
            add_row(offsets.row(row), labels, sets.weights[k], mean_offset, mean_side,
                    total.data());
        }
        for (std::size_t j = 0; j < labels; ++j) {
            const double scale =
                total[j] > 0 ? 1 / total[j] : std::numeric_limits<double>::quiet_NaN();
            mean_offset[j] *= scale;
            mean_side[j] *= scale;
        }
    }
}

}  // namespace prefero
