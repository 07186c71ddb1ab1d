#include "core/preferences.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prefero {

namespace {

// Beyond this spread of a row's scores the sums of exponentials would lose precision or
// overflow; such rows go edge by edge in log space.
constexpr double kSafeSpread = 160;
constexpr std::size_t kLanes = 4;

// One instance of a layered graph with its labels in the order of their layers.
struct LayeredRow {
    std::vector<double> score, up, down;  // up = exp(score - middle), down = 1 / up
    std::vector<double> incoming, outgoing;
    std::vector<std::size_t> begin;  // first position of every layer, and the end
    double middle = 0, spread = 0;

    explicit LayeredRow(std::size_t labels)
        : score(labels), up(labels), down(labels), incoming(labels), outgoing(labels) {}

    std::size_t layers() const { return begin.size() - 1; }
    std::size_t size() const { return begin.back(); }
    std::size_t above_last_layer() const { return begin[layers() - 1]; }

    void load(const double* scores, const std::int32_t* order, const std::int32_t* layer,
              std::size_t labels) {
        begin.clear();
        std::size_t present = 0;
        double low = 0, high = 0;
        for (; present < labels && layer[present] >= 0; ++present) {
            if (present == 0 || layer[present] != layer[present - 1]) begin.push_back(present);
            const double value = scores[order[present]];
            low = present ? std::min(low, value) : value;
            high = present ? std::max(high, value) : value;
            score[present] = value;
        }
        begin.push_back(present);
        middle = low + (high - low) / 2;
        spread = high - low;
    }

    void exponentiate() {
        for (std::size_t k = 0; k < size(); ++k) {
            up[k] = std::exp(score[k] - middle);
            down[k] = 1 / up[k];
        }
        std::fill_n(incoming.begin(), size(), 0.0);
        std::fill_n(outgoing.begin(), size(), 0.0);
    }
};

double sum(const std::vector<double>& values, std::size_t begin, std::size_t end) {
    double total = 0;
    for (std::size_t k = begin; k < end; ++k) total += values[k];
    return total;
}

// Each loss below returns the sum over the row's subgraphs and leaves the edge weights in the
// row, both still to be divided by the number of subgraphs.

double graph_loss(LayeredRow& row) {
    double total = 1, above = 0, below = 0;
    for (std::size_t l = 0; l < row.layers(); ++l) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            row.incoming[k] = above * row.up[k];
        above += sum(row.down, row.begin[l], row.begin[l + 1]);
    }
    for (std::size_t l = row.layers(); l-- > 0;) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            total += row.outgoing[k] = below * row.down[k];
        below += sum(row.up, row.begin[l], row.begin[l + 1]);
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
        row.incoming[k] /= total;
        row.outgoing[k] /= total;
    }
    return std::log(total);
}

double domination_loss(LayeredRow& row) {
    double loss = 0, below = 0, inverse = 0;
    std::vector<double>& share = row.down;  // 1 / (1 + sum of exponentials) / up of every vertex
    for (std::size_t l = row.layers(); l-- > 0;) {
        if (l + 1 < row.layers())
            for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
                const double total = row.up[k] + below;
                loss += std::log(total) - (row.score[k] - row.middle);
                share[k] = 1 / total;
                row.outgoing[k] = below * share[k];
            }
        below += sum(row.up, row.begin[l], row.begin[l + 1]);
    }
    for (std::size_t l = 0; l < row.layers(); ++l) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            row.incoming[k] = inverse * row.up[k];
        inverse += sum(share, row.begin[l], row.begin[l + 1]);
    }
    return loss;
}

double dominated_loss(LayeredRow& row) {
    double loss = 0, above = 0, inverse = 0;
    std::vector<double>& share = row.up;  // 1 / (1 + sum of exponentials) * up of every vertex
    for (std::size_t l = 0; l < row.layers(); ++l) {
        const double here = sum(row.down, row.begin[l], row.begin[l + 1]);
        if (l > 0)
            for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k) {
                const double total = row.down[k] + above;
                loss += std::log(total) + (row.score[k] - row.middle);
                share[k] = 1 / total;
                row.incoming[k] = above * share[k];
            }
        above += here;
    }
    for (std::size_t l = row.layers(); l-- > 0;) {
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            row.outgoing[k] = inverse * row.down[k];
        inverse += sum(share, row.begin[l], row.begin[l + 1]);
    }
    return loss;
}

// The edges from one vertex to `count` others. No exponential and few logarithms: a product of
// 1 + exp(difference) over `flush` blocks of lanes cannot overflow.
double edges_from_one(double down, const double* up, std::size_t count, std::size_t flush,
                      double* incoming, double* outgoing) {
    double loss = 0, weight[kLanes] = {}, product[kLanes] = {1, 1, 1, 1};
    std::size_t k = 0;
    while (k + kLanes <= count) {
        const std::size_t stop = std::min(count - count % kLanes, k + flush * kLanes);
        for (; k < stop; k += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const double ratio = up[k + lane] * down, total = 1 + ratio;
                const double q = ratio / total;
                product[lane] *= total;
                incoming[k + lane] += q;
                weight[lane] += q;
            }
        loss += std::log((product[0] * product[1]) * (product[2] * product[3]));
        std::fill_n(product, kLanes, 1.0);
    }
    for (; k < count; ++k) {
        const double ratio = up[k] * down, total = 1 + ratio;
        product[k % kLanes] *= total;
        incoming[k] += ratio / total;
        weight[k % kLanes] += ratio / total;
    }
    *outgoing = (weight[0] + weight[1]) + (weight[2] + weight[3]);
    return loss + std::log(product[0] * product[1] * product[2]);
}

double edges_loss(LayeredRow& row) {
    // A product of four lanes of `flush` factors stays below exp(4 * 172), about 1e299.
    const auto flush = static_cast<std::size_t>(172 / (row.spread + 1));
    double loss = 0;
    for (std::size_t l = 0; l + 1 < row.layers(); ++l) {
        const std::size_t lower = row.begin[l + 1];
        for (std::size_t k = row.begin[l]; k < row.begin[l + 1]; ++k)
            loss += edges_from_one(row.down[k], row.up.data() + lower, row.size() - lower, flush,
                                   row.incoming.data() + lower, &row.outgoing[k]);
    }
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

// log(1 + sum of exp(margins)); the margins become the weights of their edges.
double soft_violation(double* margin, std::size_t count) {
    double top = 0, total = 0;
    for (std::size_t e = 0; e < count; ++e) top = std::max(top, margin[e]);
    for (std::size_t e = 0; e < count; ++e) total += margin[e] = std::exp(margin[e] - top);
    total += std::exp(-top);
    for (std::size_t e = 0; e < count; ++e) margin[e] /= total;
    return top + std::log(total);
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

}  // namespace

void layered_loss(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                  RankingLoss result) {
    const std::size_t labels = graphs.labels;
    LayeredRow row(labels);
    std::fill_n(result.incoming, graphs.rows * labels, 0.0);
    std::fill_n(result.outgoing, graphs.rows * labels, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        const std::int32_t* order = graphs.order + i * labels;
        row.load(scores + i * labels, order, graphs.layer + i * labels, labels);
        const std::size_t subgraphs = subgraph_count(row, decomposition);
        result.loss[i] = 0;
        if (subgraphs == 0) continue;
        const double share = 1 / static_cast<double>(subgraphs);
        result.loss[i] = share * (row.spread <= kSafeSpread ? safe_loss(row, decomposition)
                                                            : wide_loss(row, decomposition));
        for (std::size_t k = 0; k < row.size(); ++k) {
            result.incoming[i * labels + order[k]] = share * row.incoming[k];
            result.outgoing[i * labels + order[k]] = share * row.outgoing[k];
        }
    }
}

void subgraph_loss(const double* scores, Subgraphs graphs, RankingLoss result,
                   double* edge_weight) {
    std::vector<double> margin;
    std::fill_n(result.incoming, graphs.rows * graphs.labels, 0.0);
    std::fill_n(result.outgoing, graphs.rows * graphs.labels, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        const double* f = scores + i * graphs.labels;
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

void layered_violations(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                        std::int64_t* counts) {
    LayeredRow row(graphs.labels);
    const bool by_other = decomposition == Decomposition::kDominated;
    for (std::size_t i = 0; i < graphs.rows; ++i) {
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

void subgraph_violations(const double* scores, Subgraphs graphs, std::int64_t* counts) {
    for (std::size_t i = 0; i < graphs.rows; ++i) {
        const double* f = scores + i * graphs.labels;
        std::int64_t violated = 0;
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
                   const double* edge_weight, double* plus, double* minus) {
    std::fill_n(plus, functions, 0.0);
    std::fill_n(minus, functions, 0.0);
    for (std::size_t i = 0; i < graphs.rows; ++i) {
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
