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

// The sums of the rows of each category: rows of lanes, the first of which is the weight; those
// from `begin` to `end` are the vector.
struct CategorySums {
    const float* lanes;
    std::size_t count, stride, begin, end;

    const float* operator[](std::size_t k) const { return lanes + k * stride; }
};

// Places of categories on the line along which their mean vectors differ most, the first principal
// axis (by power iteration). Sets of categories that are neighbours there are the only ones worth
// trying: exact for two labels, close for more.
inline std::vector<std::size_t> order_categories(const CategorySums& sums) {
    const std::size_t count = sums.count, begin = sums.begin, end = sums.end;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<float> all(sums.stride);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t lane = 0; lane < all.size(); ++lane) all[lane] += sums[k][lane];
    const auto difference = [&](std::size_t k, std::size_t lane) {
        return sums[k][lane] / sums[k][kWeightLane] - all[lane] / all[kWeightLane];
    };
    std::vector<double> axis(end), keys(count), next(end);
    for (std::size_t lane = begin; lane < end; ++lane) axis[lane] = difference(0, lane);
    for (int round = 0; round < 8; ++round) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t k = 0; k < count; ++k) {
            keys[k] = 0;
            for (std::size_t lane = begin; lane < end; ++lane)
                keys[k] += axis[lane] * difference(k, lane);
            const double pull = keys[k] * sums[k][kWeightLane];
            for (std::size_t lane = begin; lane < end; ++lane)
                next[lane] += pull * difference(k, lane);
        }
        const double most =
            std::fabs(*std::max_element(next.begin(), next.end(), [](double a, double b) {
                return std::fabs(a) < std::fabs(b);
            }));
        if (most == 0) break;
        for (std::size_t lane = 0; lane < end; ++lane) axis[lane] = next[lane] / most;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    return order;
}

// The same for the categories of a node.
inline std::vector<std::size_t> order_categories(const Sample& sample, const NodeHistogram& bins) {
    const TrainingData& data = sample.data;
    Blocks sums(bins.count() * data.width());
    for (std::size_t k = 0; k < bins.count(); ++k)
        sum_rows(sample, bins.rows(k), &sums[k * data.width()]);
    return order_categories({sums.data()->lane, bins.count(), data.width() * kLanes,
                             data.vector_begin(), data.vector_end()});
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
