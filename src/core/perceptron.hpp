// Online constraint classification by a noise-tolerant perceptron.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interruption.hpp"
#include "core/preferences.hpp"
#include "core/sparse_rows.hpp"

namespace prefero {

// The preferences of every row: edges preferred[e] -> other[e] from begin[i] to begin[i + 1].
struct EdgeLists {
    const std::int64_t* begin;
    const std::int32_t* preferred;
    const std::int32_t* other;
};

struct PerceptronOptions {
    double margin;        // a preference must lead by more than this
    std::int64_t alpha;   // one that caused this many updates is ignored from then on
    bool alpha_per_edge;  // whether alpha counts for each edge, or for all edges of a row
};

// What an epoch changes: weights and drift of shape columns x labels, and the number of updates
// that each row or edge caused. After `steps` visits the average of the weights over the visits
// is weights - drift / steps.
struct PerceptronState {
    double* weights;
    double* drift;
    std::int64_t* updates;
    std::int64_t steps;
};

// Visits the rows in the given order once. All violated preferences of a row are checked by the
// weights before the visit and then moved together. Returns how many were violated.
std::int64_t perceptron_epoch(SparseRows X, EdgeLists edges, const double* row_weight,
                              const std::int64_t* order, std::size_t labels,
                              PerceptronOptions options, PerceptronState& state,
                              Interruption& interruption);

// The same of layered graphs, whose edges are not written out. Those of a row follow each other
// by the places of the preferred label and then of the other one in its order.
std::int64_t perceptron_epoch(SparseRows X, LayeredGraphs graphs, const double* row_weight,
                              const std::int64_t* order, PerceptronOptions options,
                              PerceptronState& state, Interruption& interruption);

// Where the edges of each row of layered graphs begin; the last entry is their number.
std::vector<std::int64_t> layered_edge_begin(LayeredGraphs graphs);

}  // namespace prefero
