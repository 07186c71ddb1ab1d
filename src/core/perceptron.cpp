#include "core/perceptron.hpp"

#include <algorithm>
#include <vector>

#include "core/simd.hpp"
#include "core/wide.hpp"

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
std::int64_t check_row(EdgeLists edges, std::size_t row, const std::vector<double>& scores,
                       PerceptronOptions options, std::int64_t* updates,
                       std::vector<std::int64_t>& change) {
    std::int64_t violated = 0;
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
        change[static_cast<std::size_t>(preferred)] += failed;
        violated += failed;
    }
    return violated;
}

// The place behind the layer of a place, among so many.
std::size_t behind_layer(const std::int32_t* layer, std::size_t place, std::size_t count) {
    std::size_t end = place + 1;
    while (end < count && layer[end] == layer[place]) ++end;
    return end;
}

std::size_t taking_part(const std::int32_t* layer, std::size_t labels) {
    std::size_t count = 0;
    while (count < labels && layer[count] >= 0) ++count;
    return count;
}

// Scores and changes of the labels of a row by their places in its order: the labels behind a
// place are neighbours, so that their preferences are checked in one sweep.
struct Placed {
    std::vector<double> score;
    std::vector<std::int64_t> change;
};

// Checks preferences of one label over neighbours; `updates` counts for each, or is null.
PREFERO_INLINE std::int64_t check_run(double score, const double* others, std::size_t count,
                                      PerceptronOptions options, std::int64_t* updates,
                                      std::int64_t* change) {
    std::int64_t failed = 0;
    if (updates == nullptr) {
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t fails = !(score > others[k] + options.margin);
            change[k] -= fails;
            failed += fails;
        }
        return failed;
    }
    for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t fails =
            (updates[k] < options.alpha) & !(score > others[k] + options.margin);
        updates[k] += fails;
        change[k] -= fails;
        failed += fails;
    }
    return failed;
}

PREFERO_WIDE std::int64_t check_long_run(double score, const double* others, std::size_t count,
                                         PerceptronOptions options, std::int64_t* updates,
                                         std::int64_t* change) {
    return check_run(score, others, count, options, updates, change);
}

// Fewer are not worth a call.
constexpr std::size_t long_run = 16;

// The same of layers; `updates` counts for the edges of the row, or is null.
std::int64_t check_row(LayeredGraphs graphs, std::size_t row, const std::vector<double>& scores,
                       PerceptronOptions options, std::int64_t* updates, Placed& placed,
                       std::vector<std::int64_t>& change) {
    const std::int32_t* order = graphs.order + row * graphs.labels;
    const std::int32_t* layer = graphs.layer + row * graphs.labels;
    const std::size_t count = taking_part(layer, graphs.labels);
    for (std::size_t p = 0; p < count; ++p) {
        placed.score[p] = scores[static_cast<std::size_t>(order[p])];
        placed.change[p] = 0;
    }
    std::int64_t violated = 0;
    for (std::size_t begin = 0, end; begin < count; begin = end) {
        end = behind_layer(layer, begin, count);
        const double* others = placed.score.data() + end;
        std::int64_t* moved = placed.change.data() + end;
        const std::size_t run = count - end;
        for (std::size_t p = begin; p < end; ++p) {
            const double score = placed.score[p];
            const std::int64_t failed =
                run < long_run ? check_run(score, others, run, options, updates, moved)
                               : check_long_run(score, others, run, options, updates, moved);
            if (updates != nullptr) updates += run;
            placed.change[p] += failed;
            violated += failed;
        }
    }
    for (std::size_t p = 0; p < count; ++p) {
        change[static_cast<std::size_t>(order[p])] = placed.change[p];
    }
    return violated;
}

// Visits the rows; `checked(row, scores, change)` checks one.
template <typename Checked>
std::int64_t visit_rows(SparseRows X, const double* row_weight, const std::int64_t* order,
                        std::size_t labels, PerceptronOptions options, PerceptronState& state,
                        Interruption& interruption, Checked checked) {
    std::vector<double> scores(labels);
    std::vector<std::int64_t> change(labels);
    std::int64_t total = 0;
    for (std::size_t visit = 0; visit < X.rows; ++visit, ++state.steps) {
        const auto row = static_cast<std::size_t>(order[visit]);
        if (!options.alpha_per_edge && state.updates[row] >= options.alpha) continue;
        interruption.spend(static_cast<std::size_t>(X.begin[row + 1] - X.begin[row] + 1) * labels);
        score_row(X, row, state.weights, scores);
        std::fill(change.begin(), change.end(), 0);
        const std::int64_t violated = checked(row, scores, change);
        if (!options.alpha_per_edge) state.updates[row] += violated;
        if (violated == 0) continue;
        total += violated;
        const auto steps = static_cast<double>(state.steps);
        for (std::int64_t k = X.begin[row]; k < X.begin[row + 1]; ++k) {
            const double value = X.value[k] * row_weight[row];
            const std::size_t column = static_cast<std::size_t>(X.column[k]) * labels;
            double *w = state.weights + column, *d = state.drift + column;
            for (std::size_t y = 0; y < labels; ++y) {
                const auto moved = static_cast<double>(change[y]);
                w[y] += value * moved;
                d[y] += steps * value * moved;
            }
        }
    }
    return total;
}

}  // namespace

std::int64_t perceptron_epoch(SparseRows X, EdgeLists edges, const double* row_weight,
                              const std::int64_t* order, std::size_t labels,
                              PerceptronOptions options, PerceptronState& state,
                              Interruption& interruption) {
    return visit_rows(
        X, row_weight, order, labels, options, state, interruption,
        [&](std::size_t row, const std::vector<double>& scores, std::vector<std::int64_t>& change) {
            return check_row(edges, row, scores, options, state.updates, change);
        });
}

std::int64_t perceptron_epoch(SparseRows X, LayeredGraphs graphs, const double* row_weight,
                              const std::int64_t* order, PerceptronOptions options,
                              PerceptronState& state, Interruption& interruption) {
    Placed placed{std::vector<double>(graphs.labels), std::vector<std::int64_t>(graphs.labels)};
    std::vector<std::int64_t> begin;
    if (options.alpha_per_edge) begin = layered_edge_begin(graphs);
    return visit_rows(
        X, row_weight, order, graphs.labels, options, state, interruption,
        [&](std::size_t row, const std::vector<double>& scores, std::vector<std::int64_t>& change) {
            std::int64_t* updates = options.alpha_per_edge ? state.updates + begin[row] : nullptr;
            return check_row(graphs, row, scores, options, updates, placed, change);
        });
}

std::vector<std::int64_t> layered_edge_begin(LayeredGraphs graphs) {
    std::vector<std::int64_t> begins(graphs.rows + 1);
    for (std::size_t row = 0; row < graphs.rows; ++row) {
        const std::int32_t* layer = graphs.layer + row * graphs.labels;
        const std::size_t count = taking_part(layer, graphs.labels);
        std::size_t edges = 0;
        for (std::size_t begin = 0, end; begin < count; begin = end) {
            end = behind_layer(layer, begin, count);
            edges += (end - begin) * (count - end);
        }
        begins[row + 1] = begins[row] + static_cast<std::int64_t>(edges);
    }
    return begins;
}

}  // namespace prefero
