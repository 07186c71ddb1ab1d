#include "core/categories.hpp"

#include <algorithm>
#include <cmath>

namespace prefero {

namespace {

// The sums of rows, gathered in doubles where floats may lose some of them.
void sum_rows(const Sample& sample, RowSpan rows, Block* sums) {
    const std::size_t width = sample.data.width();
    if (sample.counts_in_floats) {
        for (std::uint32_t row : rows) add_all(sums, sample.simd_row(row), width);
    } else {
        LargeSums exact(width);
        exact.add(sample, rows);
        exact.round(sums);
    }
}

}  // namespace

std::vector<std::size_t> order_categories(const CategorySums& sums) {
    const std::size_t count = sums.count, begin = sums.begin, end = sums.end;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<float> all(sums.stride);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] += sums[k][slot];
    const auto difference = [&](std::size_t k, std::size_t slot) {
        return sums[k][slot] / sums[k][kWeightAt] - all[slot] / all[kWeightAt];
    };
    std::vector<double> axis(end), keys(count), next(end);
    for (std::size_t slot = begin; slot < end; ++slot) axis[slot] = difference(0, slot);
    for (int round = 0; round < 8; ++round) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t k = 0; k < count; ++k) {
            keys[k] = 0;
            for (std::size_t slot = begin; slot < end; ++slot)
                keys[k] += axis[slot] * difference(k, slot);
            const double pull = keys[k] * sums[k][kWeightAt];
            for (std::size_t slot = begin; slot < end; ++slot)
                next[slot] += pull * difference(k, slot);
        }
        const double most =
            std::fabs(*std::max_element(next.begin(), next.end(), [](double a, double b) {
                return std::fabs(a) < std::fabs(b);
            }));
        if (most == 0) break;
        for (std::size_t slot = 0; slot < end; ++slot) axis[slot] = next[slot] / most;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    return order;
}

std::vector<std::size_t> order_categories(const Sample& sample, const NodeHistogram& bins) {
    const TrainingData& data = sample.data;
    Blocks sums(bins.count() * data.width());
    for (std::size_t k = 0; k < bins.count(); ++k)
        sum_rows(sample, bins.rows(k), &sums[k * data.width()]);
    return order_categories({sums.data()->value, bins.count(), data.width() * kSimdWidth,
                             data.vector_begin(), data.vector_end()});
}

}  // namespace prefero
