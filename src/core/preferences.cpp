#include "core/preferences.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/exponential.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// Beyond this spread of a row's scores the sums of exponentials would lose precision or
// overflow; such rows go edge by edge in log space.
constexpr double kSafeSpread = 160;
// The logarithm of the largest product of factors, each at most exp(spread) + 1.
constexpr double kLargestLog = 700;
constexpr std::size_t kSimdWidth = 8;
constexpr std::size_t kStepsPerLabel = 16;  // of a loss, in nanoseconds or so

PREFERO_WIDE double sum(const double* values, std::size_t count) {
    double total[kSimdWidth] = {}, rest = 0;
    std::size_t k = 0;
    for (; k + kSimdWidth <= count; k += kSimdWidth)
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot) total[slot] += values[k + slot];
    for (; k < count; ++k) rest += values[k];
    for (const double part : total) rest += part;
    return rest;
}

struct Extremes {
    double low, high;
};

// Of at least one value; several at a time shorten the chain of comparisons.
PREFERO_WIDE Extremes extremes(const double* values, std::size_t count) {
    double low[kSimdWidth], high[kSimdWidth];
    std::fill_n(low, kSimdWidth, values[0]);
    std::fill_n(high, kSimdWidth, values[0]);
    std::size_t k = 0;
    for (; k + kSimdWidth <= count; k += kSimdWidth)
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot) {
            const double value = values[k + slot];
            low[slot] = value < low[slot] ? value : low[slot];
            high[slot] = value > high[slot] ? value : high[slot];
        }
    for (; k < count; ++k) {
        low[0] = std::min(low[0], values[k]);
        high[0] = std::max(high[0], values[k]);
    }
    return {*std::min_element(low, low + kSimdWidth), *std::max_element(high, high + kSimdWidth)};
}

// One instance of a layered graph with its labels in the order of their layers.
struct LayeredRow {
    std::vector<double> score, up, down;  // up = exp(score - middle), down = 1 / up
    std::vector<double> incoming, outgoing;
    std::vector<double> factor;      // 1 + sum of exponentials of the subgraph of a position
    std::vector<double> weight;      // of the edges from one vertex
    std::vector<std::size_t> begin;  // first position of every layer, and the end
    double middle = 0, spread = 0;

    explicit LayeredRow(std::size_t labels)
        : score(labels),
          up(labels),
          down(labels),
          incoming(labels),
          outgoing(labels),
          factor(labels),
          weight(labels) {}

    std::size_t layers() const { return begin.size() - 1; }
    std::size_t size() const { return begin.back(); }
    std::size_t above_last_layer() const { return begin[layers() - 1]; }

    void load(const double* scores, const std::int32_t* order, const std::int32_t* layer,
              std::size_t labels) {
        begin.clear();
        std::size_t present = 0;
        for (; present < labels && layer[present] >= 0; ++present) {
            if (present == 0 || layer[present] != layer[present - 1]) begin.push_back(present);
            score[present] = scores[order[present]];
        }
        begin.push_back(present);
        const Extremes range = present ? extremes(score.data(), present) : Extremes{0, 0};
        middle = range.low + (range.high - range.low) / 2;
        spread = range.high - range.low;
    }

    void exponentiate() {
        for (std::size_t k = 0; k < size(); ++k) up[k] = score[k] - middle;
        prefero::exponentiate(up.data(), size());
        for (std::size_t k = 0; k < size(); ++k) down[k] = 1 / up[k];
        std::fill_n(incoming.begin(), size(), 0.0);
        std::fill_n(outgoing.begin(), size(), 0.0);
    }

    // The logarithms of the factors from one position to another, added up.
    double log_factors(std::size_t from, std::size_t to) const {
        const double largest = spread + std::log(static_cast<double>(size()) + 1);
        return log_product(factor.data() + from, to - from, largest);
    }
};

double sum(const std::vector<double>& values, std::size_t begin, std::size_t end) {
    return sum(values.data() + begin, end - begin);
}

// Each loss below returns the sum over the row's subgraphs and leaves the edge weights in the
// row, both still to be divided by the number of subgraphs.

double graph_loss(LayeredRow& row) {
    double total = 1, above = 0, below = 0;
    for (std::size_t l = 0; l < row.layers(); ++l) {
        const std::size_t first = row.begin[l], last = row.begin[l + 1];
        total += above * sum(row.up, first, last);
        std::fill(row.incoming.begin() + first, row.incoming.begin() + last, above);
        above += sum(row.down, first, last);
    }
    for (std::size_t l = row.layers(); l-- > 0;) {
        const std::size_t first = row.begin[l], last = row.begin[l + 1];
        std::fill(row.outgoing.begin() + first, row.outgoing.begin() + last, below);
        below += sum(row.up, first, last);
    }
    const double share = 1 / total;
    for (std::size_t k = 0; k < row.size(); ++k) {
        row.incoming[k] *= share * row.up[k];
        row.outgoing[k] *= share * row.down[k];
    }
    return std::log(total);
}

double domination_loss(LayeredRow& row) {
    double below = 0, inverse = 0;
    std::vector<double>& share = row.down;  // 1 / (1 + sum of exponentials) / up of every vertex
    for (std::size_t l = row.layers(); l-- > 0;) {
        if (l + 1 < row.layers())
            for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
                row.factor[k] = 1 + below * row.down[k];
                share[k] = 1 / (row.up[k] + below);
                row.outgoing[k] = below * share[k];
            }
        below += sum(row.up, row.begin[l], row.begin[l + 1]);
    }
    for (std::size_t l = 0; l < row.layers(); ++l) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            row.incoming[k] = inverse * row.up[k];
        inverse += sum(share, row.begin[l], row.begin[l + 1]);
    }
    return row.log_factors(0, row.above_last_layer());
}

double dominated_loss(LayeredRow& row) {
    double above = 0, inverse = 0;
    std::vector<double>& share = row.up;  // 1 / (1 + sum of exponentials) * up of every vertex
    for (std::size_t l = 0; l < row.layers(); ++l) {
        const double here = sum(row.down, row.begin[l], row.begin[l + 1]);
        if (l > 0)
            for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
                row.factor[k] = 1 + above * row.up[k];
                share[k] = 1 / (row.down[k] + above);
                row.incoming[k] = above * share[k];
            }
        above += here;
    }
    for (std::size_t l = row.layers(); l-- > 0;) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            row.outgoing[k] = inverse * row.down[k];
        inverse += sum(share, row.begin[l], row.begin[l + 1]);
    }
    return row.log_factors(row.begin[1], row.size());
}

// The edges from one vertex to `count` others: multiplies by their factors, adds their weights and
// returns the sum of these.
PREFERO_WIDE double edges_from_one(double down, const double* up, std::size_t count,
                                   double* products, double* weight, double* incoming) {
    for (std::size_t k = 0; k < count; ++k) {
        const double ratio = up[k] * down, factor = 1 + ratio;
        products[k] *= factor;
        weight[k] = ratio / factor;
        incoming[k] += weight[k];
    }
    return sum(weight, count);
}

// The factors of the edges to one vertex are multiplied, so that a logarithm stands for many.
double edges_loss(LayeredRow& row) {
    const auto most = static_cast<std::size_t>(kLargestLog / (row.spread + 1));
    std::vector<double>& products = row.factor;
    std::fill_n(products.begin(), row.size(), 1.0);
    double loss = 0;
    std::size_t factors = 0;
    const auto take_losses = [&] {
        take_logarithms(products.data(), row.size());
        loss += sum(products, 0, row.size());
        std::fill_n(products.begin(), row.size(), 1.0);
        factors = 0;
    };
    for (std::size_t l = 0; l + 1 < row.layers(); ++l) {
        const std::size_t lower = row.begin[l + 1];
        for (std::size_t k = row.begin[l]; k < lower; ++k) {
            row.outgoing[k] = edges_from_one(row.down[k], row.up.data() + lower, row.size() - lower,
                                             products.data() + lower, row.weight.data(),
                                             row.incoming.data() + lower);
            if (++factors == most) take_losses();
        }
    }
    take_losses();
    return loss;
}

std::size_t edge_count(const LayeredRow& row) {
    std::size_t edges = 0;
    for (std::size_t l = 0; l + 1 < row.layers(); ++l)
        edges += (row.begin[l + 1] - row.begin[l]) * (row.size() - row.begin[l + 1]);
    return edges;
}

std::size_t subgraph_count(const LayeredRow& row, Decomposition decomposition) {
    if (row.layers() < 2) return 0;
    switch (decomposition) {
        case Decomposition::kGraph:
            return 1;
        case Decomposition::kEdges:
            return edge_count(row);
        case Decomposition::kDomination:
            return row.above_last_layer();
        default:
            return row.size() - row.begin[1];
    }
}

double safe_loss(LayeredRow& row, Decomposition decomposition) {
    row.exponentiate();
    switch (decomposition) {
        case Decomposition::kGraph:
            return graph_loss(row);
        case Decomposition::kEdges:
            return edges_loss(row);
        case Decomposition::kDomination:
            return domination_loss(row);
        default:
            return dominated_loss(row);
    }
}

// The positions of the labels that the subgraph of one vertex compares it with.
struct Span {
    std::size_t begin, end;
};

Span below(const LayeredRow& row, std::size_t layer) { return {row.begin[layer + 1], row.size()}; }
Span above(const LayeredRow& row, std::size_t layer) { return {0, row.begin[layer]}; }

// Any decomposition in log space, one edge at a time.
double wide_loss(LayeredRow& row, Decomposition decomposition) {
    std::fill_n(row.incoming.begin(), row.size(), 0.0);
    std::fill_n(row.outgoing.begin(), row.size(), 0.0);
    const bool by_other = decomposition == Decomposition::kDominated;
    std::vector<double> margin;
    std::vector<std::size_t> first, second;
    double loss = 0;
    const auto close = [&] {
        loss += soft_violation(margin.data(), margin.size());
        for (std::size_t e = 0; e < margin.size(); ++e) {
            row.outgoing[first[e]] += margin[e];
            row.incoming[second[e]] += margin[e];
        }
        margin.clear(), first.clear(), second.clear();
    };
    for (std::size_t l = 0; l < row.layers(); ++l)
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
            const Span others = by_other ? above(row, l) : below(row, l);
            for (std::size_t o = others.begin; o < others.end; ++o) {
                first.push_back(by_other ? o : k);
                second.push_back(by_other ? k : o);
                margin.push_back(row.score[second.back()] - row.score[first.back()]);
                if (decomposition == Decomposition::kEdges) close();
            }
            if (decomposition != Decomposition::kGraph) close();
        }
    close();
    return loss;
}

// Loads row i and computes its mean loss; the edge weights left in the row are still to be
// multiplied by the share of a subgraph, which is returned: 0 if there is none.
double row_loss(LayeredRow& row, const double* scores, LayeredGraphs graphs, std::size_t i,
                Decomposition decomposition, double* loss) {
    const std::size_t at = i * graphs.labels;
    row.load(scores + at, graphs.order + at, graphs.layer + at, graphs.labels);
    const std::size_t subgraphs = subgraph_count(row, decomposition);
    *loss = 0;
    if (subgraphs == 0) return 0;
    const double share = 1 / static_cast<double>(subgraphs);
    *loss = share * (row.spread <= kSafeSpread ? safe_loss(row, decomposition)
                                               : wide_loss(row, decomposition));
    return share;
}

}  // namespace

void layered_loss(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                  RankingLoss result, Interruption& interruption) {
    const std::size_t labels = graphs.labels;
    LayeredRow row(labels);
    std::fill_n(result.incoming, graphs.rows * labels, 0.0);
    std::fill_n(result.outgoing, graphs.rows * labels, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        interruption.spend(kStepsPerLabel * labels);
        const double share = row_loss(row, scores, graphs, i, decomposition, &result.loss[i]);
        const std::int32_t* order = graphs.order + i * labels;
        for (std::size_t k = 0; k < row.size() && share > 0; ++k) {
            result.incoming[i * labels + order[k]] = share * row.incoming[k];
            result.outgoing[i * labels + order[k]] = share * row.outgoing[k];
        }
    }
}

double layered_gradient(double* scores, LayeredGraphs graphs, Decomposition decomposition,
                        const double* row_weight, Interruption& interruption) {
    const std::size_t labels = graphs.labels;
    LayeredRow row(labels);
    double total = 0, loss = 0;
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        interruption.spend(kStepsPerLabel * labels);
        const double share = row_loss(row, scores, graphs, i, decomposition, &loss) * row_weight[i];
        total += loss * row_weight[i];
        double* slope = scores + i * labels;
        const std::int32_t* order = graphs.order + i * labels;
        if (row.size() < labels || share == 0) std::fill_n(slope, labels, 0.0);
        for (std::size_t k = 0; k < row.size() && share > 0; ++k)
            slope[order[k]] = share * (row.incoming[k] - row.outgoing[k]);
    }
    return total;
}

void layered_violations(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                        std::int64_t* counts, Interruption& interruption) {
    LayeredRow row(graphs.labels);
    const bool by_other = decomposition == Decomposition::kDominated;
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        interruption.spend(graphs.labels * graphs.labels);
        row.load(scores + i * graphs.labels, graphs.order + i * graphs.labels,
                 graphs.layer + i * graphs.labels, graphs.labels);
        std::int64_t edges = 0, vertices = 0;
        for (std::size_t l = 0; l < row.layers(); ++l)
            for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
                const Span others = by_other ? above(row, l) : below(row, l);
                const double sign = by_other ? -1 : 1, score = sign * row.score[k];
                std::int64_t violated = 0;
                for (std::size_t o = others.begin; o < others.end; ++o)
                    violated += score <= sign * row.score[o];
                edges += violated;
                vertices += violated > 0;
            }
        const bool by_vertex = by_other || decomposition == Decomposition::kDomination;
        const bool whole = decomposition == Decomposition::kGraph;
        *counts++ = whole ? edges > 0 : by_vertex ? vertices : edges;
        *counts++ = static_cast<std::int64_t>(subgraph_count(row, decomposition));
    }
}

}  // namespace prefero
