#include <algorithm>
#include <cmath>
#include <vector>

#include "core/preferences.hpp"

namespace prefero {

namespace {

constexpr std::size_t kStepsPerEdge = 16;  // of a loss, in nanoseconds or so

std::size_t edges_of(Subgraphs graphs, std::size_t row) {
    return static_cast<std::size_t>(graphs.subgraph_begin[graphs.row_begin[row + 1]] -
                                    graphs.subgraph_begin[graphs.row_begin[row]]);
}

}  // namespace

double soft_violation(double* margin, std::size_t count) {
    double top = 0, total = 0;
    for (std::size_t e = 0; e < count; ++e) top = std::max(top, margin[e]);
    for (std::size_t e = 0; e < count; ++e) total += margin[e] = std::exp(margin[e] - top);
    total += std::exp(-top);
    for (std::size_t e = 0; e < count; ++e) margin[e] /= total;
    return top + std::log(total);
}

void subgraph_loss(const double* scores, Subgraphs graphs, RankingLoss result, double* edge_weight,
                   Interruption& interruption) {
    std::vector<double> margin;
    std::fill_n(result.incoming, graphs.rows * graphs.labels, 0.0);
    std::fill_n(result.outgoing, graphs.rows * graphs.labels, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        const double* f = scores + i * graphs.labels;
        interruption.spend(kStepsPerEdge * edges_of(graphs, i));
        double* incoming = result.incoming + i * graphs.labels;
        double* outgoing = result.outgoing + i * graphs.labels;
        const std::int64_t first = graphs.row_begin[i], last = graphs.row_begin[i + 1];
        const double share = last > first ? 1 / static_cast<double>(last - first) : 0;
        double loss = 0;
        for (std::int64_t s = first; s < last; ++s) {
            const std::int64_t begin = graphs.subgraph_begin[s], end = graphs.subgraph_begin[s + 1];
            margin.clear();
            for (std::int64_t e = begin; e < end; ++e)
                margin.push_back(f[graphs.other[e]] - f[graphs.preferred[e]]);
            loss += soft_violation(margin.data(), margin.size());
            for (std::int64_t e = begin; e < end; ++e) {
                const double weight = share * margin[static_cast<std::size_t>(e - begin)];
                incoming[graphs.other[e]] += weight;
                outgoing[graphs.preferred[e]] += weight;
                if (edge_weight) edge_weight[e] = weight;
            }
        }
        result.loss[i] = share * loss;
    }
}

void subgraph_violations(const double* scores, Subgraphs graphs, std::int64_t* counts,
                         Interruption& interruption) {
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        const double* f = scores + i * graphs.labels;
        std::int64_t violated = 0;
        interruption.spend(edges_of(graphs, i));
        for (std::int64_t s = graphs.row_begin[i]; s < graphs.row_begin[i + 1]; ++s) {
            bool wrong = false;
            for (std::int64_t e = graphs.subgraph_begin[s]; e < graphs.subgraph_begin[s + 1]; ++e)
                wrong |= f[graphs.preferred[e]] <= f[graphs.other[e]];
            violated += wrong;
        }
        *counts++ = violated;
        *counts++ = graphs.row_begin[i + 1] - graphs.row_begin[i];
    }
}

void boosting_sums(const double* values, std::size_t functions, Subgraphs graphs,
                   const double* edge_weight, double* plus, double* minus,
                   Interruption& interruption) {
    std::fill_n(plus, functions, 0.0);
    std::fill_n(minus, functions, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        interruption.spend(edges_of(graphs, i) * functions);
        const double* h = values + i * graphs.labels * functions;
        const std::int64_t begin = graphs.subgraph_begin[graphs.row_begin[i]];
        const std::int64_t end = graphs.subgraph_begin[graphs.row_begin[i + 1]];
        for (std::int64_t e = begin; e < end; ++e) {
            const double* other = h + static_cast<std::size_t>(graphs.other[e]) * functions;
            const double* preferred = h + static_cast<std::size_t>(graphs.preferred[e]) * functions;
            for (std::size_t j = 0; j < functions; ++j) {
                const double change = edge_weight[e] * (other[j] - preferred[j]);
                plus[j] += std::max(change, 0.0);
                minus[j] += std::max(-change, 0.0);
            }
        }
    }
}

}  // namespace prefero
