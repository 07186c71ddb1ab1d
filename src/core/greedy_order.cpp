#include "core/greedy_order.hpp"

#include <algorithm>
#include <vector>

#include "core/rank_row.hpp"

namespace prefero {

namespace {

double net_preference(const double* u, const double* v, const double* weights,
                      std::size_t columns) {
    double sum = 0;
    for (std::size_t k = 0; k < columns; ++k) sum += weights[k] * preference(v[k], u[k]);
    return sum;
}

}  // namespace

void greedy_order(const double* values, std::size_t columns, const double* weights, Groups groups,
                  std::int64_t* places, Interruption& interruption) {
    std::vector<double> potential;
    std::vector<std::size_t> left;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const std::size_t size = groups.size(g);
        const double* block = values + groups.begin(g) * columns;
        const auto between = [&](std::size_t u, std::size_t v) {
            return net_preference(block + u * columns, block + v * columns, weights, columns);
        };
        potential.assign(size, 0.0);
        left.resize(size);
        for (std::size_t u = 0; u < size; ++u) {
            left[u] = u;
            interruption.spend(u * columns);
            for (std::size_t v = 0; v < u; ++v) {
                const double net = between(u, v);
                potential[u] += net;
                potential[v] -= net;
            }
        }
        for (std::size_t place = 1; place <= size; ++place) {
            const auto best = std::max_element(
                left.begin(), left.end(),
                [&](std::size_t a, std::size_t b) { return potential[a] < potential[b]; });
            const std::size_t chosen = *best;
            interruption.spend(left.size() * columns);
            left.erase(best);
            places[groups.begin(g) + chosen] = static_cast<std::int64_t>(place);
            for (std::size_t v : left) potential[v] -= between(v, chosen);
        }
    }
}

}  // namespace prefero
