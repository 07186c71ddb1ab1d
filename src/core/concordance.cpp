#include "core/concordance.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/rank_row.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// Up to this many objects, comparing all pairs for many columns at once beats sorting each.
constexpr std::size_t kPairLimit = 128;

// Spearman's rho is, up to its scale, the sum over pairs of the difference of positions times
// the sign of the difference of values; Kendall's tau has the sign of the former instead.
double pair_weight(double first, double second, Correlation correlation) {
    return correlation == Correlation::kKendall ? preference(first, second) : second - first;
}

double scale(std::size_t size, Correlation correlation) {
    const auto length = static_cast<double>(size);
    return correlation == Correlation::kKendall ? 2 / (length * (length - 1))
                                                : 6 / (length * (length * length - 1));
}

// How many columns are compared at once: few enough for their sums to stay in registers.
constexpr std::size_t kTile = 32;

// Adds weight times the sign of the difference, over all pairs of rows of a tile of columns.
PREFERO_WIDE void add_signs(const double* tile, const double* weights, std::size_t size,
                            const double* tolerance, double* sums) {
    double total[kTile] = {};
    for (std::size_t i = 0; i < size; ++i) {
        const double* first = tile + i * kTile;
        for (std::size_t j = i + 1; j < size; ++j) {
            const double* second = tile + j * kTile;
            const double weight = *weights++;
            for (std::size_t k = 0; k < kTile; ++k) {
                const double difference = first[k] - second[k];
                total[k] += (difference > tolerance[k] ? weight : 0.0) -
                            (difference < -tolerance[k] ? weight : 0.0);
            }
        }
    }
    for (std::size_t k = 0; k < kTile; ++k) sums[k] += total[k];
}

// Both correlations of a group by comparing all pairs, a tile of columns at a time.
class AllPairs {
  public:
    void operator()(const double* values, std::size_t columns, const double* positions,
                    std::size_t size, const double* tolerance, Correlation correlation,
                    double* sums) {
        weights_.clear();
        const double unit = scale(size, correlation);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = i + 1; j < size; ++j)
                weights_.push_back(unit * pair_weight(positions[i], positions[j], correlation));
        tile_.assign(size * kTile, 0.0);
        for (std::size_t begin = 0; begin < columns; begin += kTile) {
            const std::size_t width = std::min(kTile, columns - begin);
            double tolerances[kTile] = {}, totals[kTile] = {};
            std::copy_n(tolerance + begin, width, tolerances);
            for (std::size_t i = 0; i < size; ++i)
                std::copy_n(values + i * columns + begin, width, tile_.data() + i * kTile);
            add_signs(tile_.data(), weights_.data(), size, tolerances, totals);
            for (std::size_t k = 0; k < width; ++k) sums[begin + k] += totals[k];
        }
    }

  private:
    std::vector<double> weights_, tile_;
};

// Spearman's rho of one column in O(L log L): the covariance of mean bucket positions.
class SortedColumn {
  public:
    double operator()(const double* values, std::size_t columns, const double* positions,
                      std::size_t size, double tolerance) {
        order_.resize(size);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const auto value = [=](std::size_t i) { return values[i * columns]; };
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
        const double middle = (static_cast<double>(size) + 1) / 2;
        double covariance = 0;
        for (std::size_t begin = 0, end; begin < size; begin = end) {
            double total = 0;
            for (end = begin; end < size && value(order_[begin]) - value(order_[end]) <= tolerance;
                 ++end)
                total += positions[order_[end]] - middle;
            covariance += total * (static_cast<double>(begin + end + 1) / 2 - middle);
        }
        return 2 * scale(size, Correlation::kSpearman) * covariance;
    }

  private:
    std::vector<std::size_t> order_;
};

}  // namespace

void add_concordance(const double* values, std::size_t columns, const double* positions,
                     Groups groups, const double* tolerance, Correlation correlation,
                     double* sums) {
    AllPairs all_pairs;
    SortedColumn spearman;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const std::size_t size = groups.size(g);
        if (size < 2) continue;
        const double* block = values + groups.begin(g) * columns;
        const double* order = positions + groups.begin(g);
        if (correlation == Correlation::kKendall || size <= kPairLimit)
            all_pairs(block, columns, order, size, tolerance, correlation, sums);
        else
            for (std::size_t k = 0; k < columns; ++k)
                sums[k] += spearman(block + k, columns, order, size, tolerance[k]);
    }
}

}  // namespace prefero
