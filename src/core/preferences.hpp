// Losses and errors of scores against preference graphs (Dekel, Manning & Singer 2003).
//
// A decomposition cuts the graph of an instance into subgraphs. A subgraph is violated if one
// of its edges (preferred -> other) is not scored strictly that way; its loss is
// log(1 + sum over its edges of exp(score of other - score of preferred)).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interruption.hpp"

namespace prefero {

// The whole graph; every edge; the out-edges of every vertex; its in-edges.
enum class Decomposition { kGraph, kEdges, kDomination, kDominated };

// Graphs with an edge from every label to every label of a lower layer. Row i of `order` holds
// its labels from the best layer to the worst, row i of `layer` their layers, ascending; labels
// that take no part stand last, in layer -1.
struct LayeredGraphs {
    const std::int32_t* order;
    const std::int32_t* layer;
    std::size_t rows;
    std::size_t labels;
};

// Any graphs, cut into subgraphs already: row i owns the subgraphs from row_begin[i] to
// row_begin[i + 1], subgraph k the edges from subgraph_begin[k] to subgraph_begin[k + 1].
struct Subgraphs {
    const std::int64_t* row_begin;
    const std::int64_t* subgraph_begin;
    const std::int32_t* preferred;
    const std::int32_t* other;
    std::size_t rows;
    std::size_t labels;
};

// The mean loss of each row's subgraphs, and the weights of its edges added up by the label
// they enter and by the label they leave: incoming - outgoing is the gradient by the scores.
struct RankingLoss {
    double* loss;
    double* incoming;
    double* outgoing;
};

// The loss of one subgraph, log(1 + sum of exp(margins)); the margins become the weights of its
// edges.
double soft_violation(double* margin, std::size_t count);

void layered_loss(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                  RankingLoss result, Interruption& interruption);

// The weighted sum of the rows' losses; the scores become its derivatives.
double layered_gradient(double* scores, LayeredGraphs graphs, Decomposition decomposition,
                        const double* row_weight, Interruption& interruption);

// `edge_weight` receives the weight of every edge, or is null.
void subgraph_loss(const double* scores, Subgraphs graphs, RankingLoss result, double* edge_weight,
                   Interruption& interruption);

// Two counts per row: subgraphs violated, subgraphs in all.
void layered_violations(const double* scores, LayeredGraphs graphs, Decomposition decomposition,
                        std::int64_t* counts, Interruption& interruption);
void subgraph_violations(const double* scores, Subgraphs graphs, std::int64_t* counts,
                         Interruption& interruption);

// W+ and W- of every base function: the weighted sums over the edges of the positive and the
// negative parts of h(x, other) - h(x, preferred). `values` holds h as rows x labels x functions.
void boosting_sums(const double* values, std::size_t functions, Subgraphs graphs,
                   const double* edge_weight, double* plus, double* minus,
                   Interruption& interruption);

}  // namespace prefero
