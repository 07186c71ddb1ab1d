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

// The sums of the rows of each category: rows of floats, the first of which is the weight; those
// from `begin` to `end` are the vector.
struct CategorySums {
    const float* sums;
    std::size_t count, stride, begin, end;

    const float* operator[](std::size_t k) const { return sums + k * stride; }
};

// Places of categories on the line along which their mean vectors differ most, the first principal
// axis (by power iteration). Sets of categories that are neighbours there are the only ones worth
// trying: exact for two labels, close for more.
std::vector<std::size_t> order_categories(const CategorySums& sums);

// The same for the categories of a node.
std::vector<std::size_t> order_categories(const Sample& sample, const NodeHistogram& bins);

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
            if constexpr (Criterion::kKeepsCuts) criterion.note_best(0);
        }
    }
    return best;
}

}  // namespace prefero
