#include "core/concordance.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/rank_row.hpp"

namespace prefero {

namespace {

// Up to this many objects, comparing all pairs for many columns at once beats sorting each.
constexpr std::size_t kPairLimit = 64;

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

void add_pair(const double* first, const double* second, std::size_t columns,
              const double* tolerance, double weight, double* sums) {
    for (std::size_t k = 0; k < columns; ++k) {
        const double difference = first[k] - second[k];
        const double above = difference > tolerance[k] ? weight : 0.0;
        const double below = difference < -tolerance[k] ? weight : 0.0;
        sums[k] += above - below;
    }
}

void add_all_pairs(const double* values, std::size_t columns, const double* positions,
                   std::size_t size, const double* tolerance, Correlation correlation,
                   double* sums) {
    const double unit = scale(size, correlation);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = i + 1; j < size; ++j) {
            const double weight = unit * pair_weight(positions[i], positions[j], correlation);
            if (weight != 0)
                add_pair(values + i * columns, values + j * columns, columns, tolerance, weight,
                         sums);
        }
}

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
    SortedColumn spearman;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const std::size_t size = groups.size(g);
        if (size < 2) continue;
        const double* block = values + groups.begin(g) * columns;
        const double* order = positions + groups.begin(g);
        if (correlation == Correlation::kKendall || size <= kPairLimit)
            add_all_pairs(block, columns, order, size, tolerance, correlation, sums);
        else
            for (std::size_t k = 0; k < columns; ++k)
                sums[k] += spearman(block + k, columns, order, size, tolerance[k]);
    }
}

}  // namespace prefero
