// The best test on the categories of a nominal feature in one node.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/criteria/sums.hpp"
#include "core/scan.hpp"

namespace prefero {

// Categories that go left, and how good that is.
struct CategoryCut {
    float quality = -std::numeric_limits<float>::infinity();
    BinSet left;
};

// The sums of rows, gathered in doubles where floats may lose some of them.
inline void sum_rows(const Sample& sample, RowSpan rows, Block* sums) {
    const std::size_t width = sample.data.width();
    if (sample.counts_in_floats) {
        for (std::uint32_t row : rows) add_all(sums, sample.lane(row), width);
    } else {
        LargeSums exact(width);
        exact.add(sample, rows);
        exact.round(sums);
    }
}

// Places of the node's categories on the line along which their mean vectors differ most, the
// first principal axis (by power iteration). Sets of categories that are neighbours there are
// the only ones worth trying: exact for two labels, close for more.
inline std::vector<std::size_t> order_categories(const Sample& sample, const NodeHistogram& bins) {
    const std::size_t width = sample.data.width(), count = bins.count();
    const std::size_t begin = sample.data.vector_begin(), lanes = sample.data.vector_end();
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Blocks sums(count * width), mean(width);
    for (std::size_t k = 0; k < count; ++k) {
        sum_rows(sample, bins.rows(k), &sums[k * width]);
        add_all(mean.data(), &sums[k * width], width);
    }
    const float* all = mean.data()->lane;
    const auto difference = [&](std::size_t k, std::size_t lane) {
        const float* sum = sums[k * width].lane;
        return sum[lane] / sum[kWeightLane] - all[lane] / all[kWeightLane];
    };
    std::vector<double> axis(lanes), keys(count), next(lanes);
    for (std::size_t lane = begin; lane < lanes; ++lane) axis[lane] = difference(0, lane);
    for (int round = 0; round < 8; ++round) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t k = 0; k < count; ++k) {
            keys[k] = 0;
            for (std::size_t lane = begin; lane < lanes; ++lane)
                keys[k] += axis[lane] * difference(k, lane);
            const double pull = keys[k] * sums[k * width].lane[kWeightLane];
            for (std::size_t lane = begin; lane < lanes; ++lane)
                next[lane] += pull * difference(k, lane);
        }
        const double most =
            std::fabs(*std::max_element(next.begin(), next.end(), [](double a, double b) {
                return std::fabs(a) < std::fabs(b);
            }));
        if (most == 0) break;
        for (std::size_t lane = 0; lane < lanes; ++lane) axis[lane] = next[lane] / most;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    return order;
}

// Each category against the rest or, with `sets`, each set of neighbours in the order above.
template <class Criterion>
CategoryCut best_categories(Criterion& criterion, const NodeHistogram& bins, const Sample& sample,
                            NodeRows node, std::size_t min_leaf, bool sets) {
    std::vector<std::size_t> order(bins.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (sets && bins.count() > 2) order = order_categories(sample, bins);
    CategoryCut best;
    BinSet chosen;
    auto left = criterion.start();
    std::size_t size = 0;
    for (std::size_t k = 0; k + (sets ? 1 : 0) < order.size(); ++k) {
        if (!sets) {
            left = criterion.start();
            size = 0;
            chosen = BinSet{};
        }
        criterion.push(left, bins.rows(order[k]));
        chosen.insert(bins[order[k]]);
        size += bins.examples(order[k]);
        if (min_leaf > 1 && (size < min_leaf || node.examples < size + min_leaf)) continue;
        const float quality = criterion.quality(left);
        if (quality > best.quality) {
            best = {quality, chosen};
            criterion.note(left);
        }
    }
    return best;
}

}  // namespace prefero
