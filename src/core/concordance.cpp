#include "core/concordance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/rank_row.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

bool makes_up_for_ties(Correlation correlation) {
    return correlation == Correlation::kTauB || correlation == Correlation::kSpearman;
}

bool is_spearman(Correlation correlation) {
    return correlation == Correlation::kRhoA || correlation == Correlation::kSpearman;
}

// The squared deviations of so many different ranks from their mean.
double untied_squares(std::size_t size) {
    const auto length = static_cast<double>(size);
    return length * (length * length - 1) / 12;
}

// Up to this many objects, comparing all pairs for many columns at once beats sorting each.
constexpr std::size_t kPairLimit = 128;

// How many columns are compared at once: few enough for their sums to stay in registers.
constexpr std::size_t kTile = 32;

// The columns of one group that are compared at once.
struct Tile {
    const double* values;  // size x kTile
    std::size_t size;
    const double* tolerance;

    double difference(std::size_t i, std::size_t j, std::size_t k) const {
        return values[i * kTile + k] - values[j * kTile + k];
    }
};

// Writes weight times the sign of the difference, summed over all pairs of rows; whether any
// pair is tied in a column is told by its smallest difference.
PREFERO_WIDE void sum_signs(Tile tile, const double* weights, double* sums, double* smallest) {
    double total[kTile] = {}, least[kTile];
    std::fill_n(least, kTile, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < tile.size; ++i)
        for (std::size_t j = i + 1; j < tile.size; ++j) {
            const double weight = *weights++;
            for (std::size_t k = 0; k < kTile; ++k) {
                const double difference = tile.difference(i, j, k);
                const double size = std::fabs(difference);
                total[k] += (difference > tile.tolerance[k] ? weight : 0.0) -
                            (difference < -tile.tolerance[k] ? weight : 0.0);
                least[k] = size < least[k] ? size : least[k];
            }
        }
    std::copy_n(total, kTile, sums);
    std::copy_n(least, kTile, smallest);
}

// For each column the number of pairs that it does not tie, and the squares, summed over the rows,
// of how many rows stand below a row minus above it: four times the squared deviations of the
// mean ranks.
PREFERO_WIDE void measure_ties(Tile tile, double* untied, double* squares) {
    double twice[kTile] = {}, total[kTile] = {};
    for (std::size_t i = 0; i < tile.size; ++i) {
        double above[kTile] = {}, below[kTile] = {};
        for (std::size_t j = 0; j < tile.size; ++j)
            for (std::size_t k = 0; k < kTile; ++k) {
                const double difference = tile.difference(i, j, k);
                above[k] += difference > tile.tolerance[k] ? 1.0 : 0.0;
                below[k] += difference < -tile.tolerance[k] ? 1.0 : 0.0;
            }
        for (std::size_t k = 0; k < kTile; ++k) {
            twice[k] += above[k] + below[k];
            total[k] += (above[k] - below[k]) * (above[k] - below[k]);
        }
    }
    for (std::size_t k = 0; k < kTile; ++k) untied[k] = twice[k] / 2;
    std::copy_n(total, kTile, squares);
}

double squared_deviations(const double* positions, std::size_t size) {
    const double middle = std::accumulate(positions, positions + size, 0.0) / size;
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += (positions[i] - middle) * (positions[i] - middle);
    return sum;
}

// What a measure could reach, squared, is the product of `order`, which the positions decide, and
// a number that the column decides.
double quotient(double sum, double order, double column) {
    return column > 0 ? sum / std::sqrt(order * column) : 0.0;
}

// All correlations of a group by comparing all pairs, a tile of columns at a time. Spearman's rho
// is, up to its scale, the sum over pairs of the difference of positions times the sign of the
// difference of values; Kendall's tau has the sign of the former instead.
class AllPairs {
  public:
    void operator()(const double* values, std::size_t columns, const double* positions,
                    std::size_t size, const double* tolerance, Correlation correlation,
                    double* sums) {
        weigh_pairs(positions, size, correlation);
        const double order = order_reach(positions, size, correlation);
        if (!(order > 0)) return;
        tile_.assign(size * kTile, 0.0);
        for (std::size_t begin = 0; begin < columns; begin += kTile) {
            const std::size_t width = std::min(kTile, columns - begin);
            double tolerances[kTile] = {}, totals[kTile], reach[kTile];
            std::copy_n(tolerance + begin, width, tolerances);
            for (std::size_t i = 0; i < size; ++i)
                std::copy_n(values + i * columns + begin, width, tile_.data() + i * kTile);
            const Tile tile{tile_.data(), size, tolerances};
            sum_signs(tile, weights_.data(), totals, reach);
            column_reach(tile, width, correlation, reach);
            for (std::size_t k = 0; k < width; ++k)
                sums[begin + k] += quotient(totals[k], order, reach[k]);
        }
    }

  private:
    void weigh_pairs(const double* positions, std::size_t size, Correlation correlation) {
        weights_.clear();
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = i + 1; j < size; ++j)
                weights_.push_back(is_spearman(correlation)
                                       ? positions[j] - positions[i]
                                       : preference(positions[i], positions[j]));
    }

    // What the order of the group could reach, squared.
    double order_reach(const double* positions, std::size_t size, Correlation correlation) const {
        const auto pairs = static_cast<double>(weights_.size());
        switch (correlation) {
            case Correlation::kTauA:
                return pairs;
            case Correlation::kTauB:
                return pairs -
                       static_cast<double>(std::count(weights_.begin(), weights_.end(), 0.0));
            case Correlation::kRhoA:
                return untied_squares(size);
            default:
                return squared_deviations(positions, size);
        }
    }

    // Turns the smallest differences of the columns into what their measure could reach, squared:
    // without ties that is the same for all.
    static void column_reach(Tile tile, std::size_t width, Correlation correlation, double* reach) {
        bool ties = false;
        for (std::size_t k = 0; k < width; ++k) ties |= reach[k] <= tile.tolerance[k];
        if (ties && makes_up_for_ties(correlation)) {
            double unused[kTile];
            const bool kendall = correlation == Correlation::kTauB;
            return measure_ties(tile, kendall ? reach : unused, kendall ? unused : reach);
        }
        const auto length = static_cast<double>(tile.size);
        const double pairs = length * (length - 1) / 2;
        // Four times the squared deviations, as measure_ties has them.
        std::fill_n(reach, kTile, is_spearman(correlation) ? pairs * 2 * (length + 1) / 3 : pairs);
    }

    std::vector<double> weights_, tile_;
};

// Spearman's rho of one column in O(L log L): the correlation of mean bucket positions.
class SortedColumn {
  public:
    double operator()(const double* values, std::size_t columns, const double* positions,
                      std::size_t size, double tolerance, Correlation correlation) {
        const bool tied = makes_up_for_ties(correlation);
        const double untied = untied_squares(size);
        const double order = tied ? squared_deviations(positions, size) : untied;
        if (!(order > 0)) return 0;
        order_.resize(size);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const auto value = [=](std::size_t i) { return values[i * columns]; };
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
        const double middle = (static_cast<double>(size) + 1) / 2;
        double covariance = 0, squares = 0;
        for (std::size_t begin = 0, end; begin < size; begin = end) {
            double total = 0;
            for (end = begin; end < size && value(order_[begin]) - value(order_[end]) <= tolerance;
                 ++end)
                total += positions[order_[end]] - middle;
            const double deviation = static_cast<double>(begin + end + 1) / 2 - middle;
            covariance += total * deviation;
            squares += static_cast<double>(end - begin) * deviation * deviation;
        }
        return quotient(covariance, order, tied ? squares : untied);
    }

  private:
    std::vector<std::size_t> order_;
};

}  // namespace

void add_concordance(const double* values, std::size_t columns, const double* positions,
                     Groups groups, const double* tolerance, Correlation correlation, double* sums,
                     Interruption& interruption) {
    AllPairs all_pairs;
    SortedColumn spearman;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const std::size_t size = groups.size(g);
        if (size < 2) continue;
        const double* block = values + groups.begin(g) * columns;
        const double* order = positions + groups.begin(g);
        if (!is_spearman(correlation) || size <= kPairLimit) {
            interruption.spend(size * size * columns / 8);
            all_pairs(block, columns, order, size, tolerance, correlation, sums);
            continue;
        }
        for (std::size_t k = 0; k < columns; ++k) {
            interruption.spend(64 * size);
            sums[k] += spearman(block + k, columns, order, size, tolerance[k], correlation);
        }
    }
}

}  // namespace prefero
