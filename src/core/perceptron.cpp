#include "core/perceptron.hpp"

#include <algorithm>
#include <vector>

namespace prefero {

namespace {

void score_row(SparseRows X, std::size_t row, const double* weights, std::vector<double>& scores) {
    const std::size_t labels = scores.size();
    std::fill(scores.begin(), scores.end(), 0.0);
    for (std::int64_t k = X.begin[row]; k < X.begin[row + 1]; ++k) {
        const double value = X.value[k];
        const double* w = weights + static_cast<std::size_t>(X.column[k]) * labels;
        for (std::size_t y = 0; y < labels; ++y) scores[y] += value * w[y];
    }
}

// Counts for every label how often it must rise less how often it must fall.
std::int64_t judge(EdgeLists edges, std::size_t row, const std::vector<double>& scores,
                   PerceptronOptions options, std::int64_t* updates, std::vector<double>& change) {
    std::int64_t violated = 0;
    std::fill(change.begin(), change.end(), 0.0);
    for (std::int64_t e = edges.begin[row], end; e < edges.begin[row + 1]; e = end) {
        // The edges of a preferred label stand together: their sum stays in a register.
        const std::int32_t preferred = edges.preferred[e];
        const double score = scores[static_cast<std::size_t>(preferred)];
        std::int64_t failed = 0;
        for (end = e; end < edges.begin[row + 1] && edges.preferred[end] == preferred; ++end) {
            const auto other = static_cast<std::size_t>(edges.other[end]);
            // No branch: which preferences fail is hard to foresee.
            const bool alive = !options.alpha_per_edge || updates[end] < options.alpha;
            const bool fails = alive & !(score > scores[other] + options.margin);
            if (options.alpha_per_edge) updates[end] += fails;
            change[other] -= fails;
            failed += fails;
        }
        change[static_cast<std::size_t>(preferred)] += static_cast<double>(failed);
        violated += failed;
    }
    if (!options.alpha_per_edge) updates[row] += violated;
    return violated;
}

}  // namespace

std::int64_t perceptron_epoch(SparseRows X, EdgeLists edges, const double* row_weight,
                              const std::int64_t* order, std::size_t labels,
                              PerceptronOptions options, PerceptronState& state,
                              Interruption& interruption) {
    std::vector<double> scores(labels), change(labels);
    std::int64_t total = 0;
    for (std::size_t visit = 0; visit < X.rows; ++visit, ++state.steps) {
        const auto row = static_cast<std::size_t>(order[visit]);
        if (!options.alpha_per_edge && state.updates[row] >= options.alpha) continue;
        interruption.spend(static_cast<std::size_t>(X.begin[row + 1] - X.begin[row] + 1) * labels);
        score_row(X, row, state.weights, scores);
        const std::int64_t violated = judge(edges, row, scores, options, state.updates, change);
        if (violated == 0) continue;
        total += violated;
        const auto steps = static_cast<double>(state.steps);
        for (std::int64_t k = X.begin[row]; k < X.begin[row + 1]; ++k) {
            const double value = X.value[k] * row_weight[row];
            const std::size_t column = static_cast<std::size_t>(X.column[k]) * labels;
            double *w = state.weights + column, *d = state.drift + column;
            for (std::size_t y = 0; y < labels; ++y) {
                w[y] += value * change[y];
                d[y] += steps * value * change[y];
            }
        }
    }
    return total;
}

}  // namespace prefero
