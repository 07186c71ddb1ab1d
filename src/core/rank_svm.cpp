#include "core/rank_svm.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace prefero {

namespace {

// Prefix sums over levels that take new terms in O(log levels).
class FenwickTree {
  public:
    void reset(std::size_t levels) { sums_.assign(levels + 1, 0.0); }

    void add(std::size_t level, double value) {
        for (std::size_t i = level + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += value;
    }

    // The sum over all levels below this one.
    double below(std::size_t level) const {
        double sum = 0;
        for (std::size_t i = level; i > 0; i -= i & (~i + 1)) sum += sums_[i];
        return sum;
    }

  private:
    std::vector<double> sums_;
};

// For each object two sums of `term`: over the better objects whose score is less than its own
// plus one, and over the worse objects whose score is greater than its own minus one.
class ActiveSums {
  public:
    ActiveSums(ScoredOrders orders, Interruption& interruption)
        : orders_(orders), interruption_(interruption) {}

    template <typename Term>
    void operator()(Term term, double* better, double* worse) {
        for (std::size_t g = 0; g < orders_.groups.count; ++g) {
            const std::int64_t* row = orders_.by_score + orders_.groups.begin(g);
            const std::size_t size = orders_.groups.size(g);
            const std::size_t levels = level_count(row, size);
            interruption_.spend(64 * size);
            tree_.reset(levels);
            for (std::size_t k = 0, next = 0; k < size; ++k) {
                const double limit = orders_.scores[row[k]] + 1;
                for (; next < size && orders_.scores[row[next]] < limit; ++next)
                    tree_.add(level(row[next]), term(row[next]));
                better[row[k]] = tree_.below(level(row[k]));
            }
            tree_.reset(levels);
            for (std::size_t k = size, next = size; k-- > 0;) {
                const double score = orders_.scores[row[k]];
                for (; next > 0 && score < orders_.scores[row[next - 1]] + 1; --next)
                    tree_.add(levels - 1 - level(row[next - 1]), term(row[next - 1]));
                worse[row[k]] = tree_.below(levels - 1 - level(row[k]));
            }
        }
    }

  private:
    std::size_t level(std::int64_t row) const {
        return static_cast<std::size_t>(orders_.levels[row]);
    }

    std::size_t level_count(const std::int64_t* row, std::size_t size) const {
        std::size_t last = 0;
        for (std::size_t k = 0; k < size; ++k) last = std::max(last, level(row[k]));
        return last + 1;
    }

    ScoredOrders orders_;
    Interruption& interruption_;
    FenwickTree tree_;
};

std::size_t row_count(Groups groups) { return groups.begin(groups.count); }

}  // namespace

void sort_by_score(const double* scores, Groups groups, std::int64_t* by_score) {
    std::iota(by_score, by_score + row_count(groups), std::int64_t{0});
    for (std::size_t g = 0; g < groups.count; ++g)
        std::sort(by_score + groups.begin(g), by_score + groups.begin(g + 1),
                  [scores](std::int64_t a, std::int64_t b) { return scores[a] < scores[b]; });
}

double pair_hinge(ScoredOrders orders, double* gradient, double* active,
                  Interruption& interruption) {
    const std::size_t rows = row_count(orders.groups);
    std::vector<double> better_mass(rows), worse_mass(rows), better_sum(rows), worse_sum(rows);
    ActiveSums sums(orders, interruption);
    const double* weights = orders.weights;
    sums([&](std::int64_t row) { return weights[row]; }, better_mass.data(), worse_mass.data());
    sums([&](std::int64_t row) { return weights[row] * orders.scores[row]; }, better_sum.data(),
         worse_sum.data());
    // With m = 1 - s_i + s_j for a pair, i better: the loss is the sum of m plus the sum of
    // m (s_j - s_i), and the latter is half the product of gradient and scores.
    double slack = 0, product = 0;
    for (std::size_t n = 0; n < rows; ++n) {
        const double score = orders.scores[n];
        const double as_worse = weights[n] * (better_mass[n] * (1 + score) - better_sum[n]);
        const double as_better = weights[n] * (worse_mass[n] * (1 - score) + worse_sum[n]);
        slack += as_worse;
        gradient[n] = 2 * (as_worse - as_better);
        active[n] = weights[n] * (better_mass[n] + worse_mass[n]);
        product += gradient[n] * score;
    }
    return slack + product / 2;
}

void pair_hinge_hessian(ScoredOrders orders, const double* active, const double* vector,
                        double* product, Interruption& interruption) {
    const std::size_t rows = row_count(orders.groups);
    std::vector<double> worse(rows);
    ActiveSums sums(orders, interruption);
    const double* weights = orders.weights;
    sums([&](std::int64_t row) { return weights[row] * vector[row]; }, product, worse.data());
    for (std::size_t n = 0; n < rows; ++n)
        product[n] = 2 * (active[n] * vector[n] - weights[n] * product[n] - weights[n] * worse[n]);
}

}  // namespace prefero
