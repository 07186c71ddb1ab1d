#include "core/preferences.hpp"

#include "bindings/arrays.hpp"
#include "core/perceptron.hpp"
#include "core/sparse_rows.hpp"

namespace prefero::bindings {

namespace {

using Labels = In<std::int32_t, 1>;
using LabelRows = In<std::int32_t, 2>;
using Offsets = In<std::int64_t, 1>;

template <typename Scores>
LayeredGraphs layered_graphs(const Scores& scores, const LabelRows& order, const LabelRows& layer) {
    require_same_shape(scores, order);
    require_same_shape(scores, layer);
    require_below(order, scores.shape(1), "order must hold labels");
    return {order.data(), layer.data(), scores.shape(0), scores.shape(1)};
}

void require_edges(const Labels& preferred, const Labels& other, std::size_t labels) {
    require(preferred.shape(0) == other.shape(0), "edges must have two ends");
    require_below(preferred, labels, "edges must start at labels");
    require_below(other, labels, "edges must end at labels");
}

// The rows of a sparse matrix with so many columns.
template <typename Value>
CompressedRows<Value> compressed_rows(const Offsets& begin, const Labels& column,
                                      const In<Value, 1>& value, std::size_t columns) {
    require_starts(begin, value.shape(0), "X_begin must ascend from 0 to the number of values");
    require(column.shape(0) == value.shape(0), "X_column and X_value must have the same length");
    require_below(column, columns, "X_column must hold columns of X");
    return {begin.data(), column.data(), value.data(), begin.shape(0) - 1};
}

Subgraphs subgraphs(std::size_t rows, std::size_t labels, const Offsets& row_begin,
                    const Offsets& subgraph_begin, const Labels& preferred, const Labels& other) {
    require(row_begin.shape(0) == rows + 1, "row_begin must have one entry more than rows");
    require(subgraph_begin.shape(0) > 0, "subgraph_begin must hold the end of the last subgraph");
    require_starts(row_begin, subgraph_begin.shape(0) - 1, "row_begin must fit subgraph_begin");
    require_starts(subgraph_begin, other.shape(0), "subgraph_begin must fit the edges");
    require_edges(preferred, other, labels);
    return {row_begin.data(), subgraph_begin.data(), preferred.data(), other.data(), rows, labels};
}

Decomposition decomposition_of(int code) {
    require(0 <= code && code <= 3, "no such decomposition");
    return static_cast<Decomposition>(code);
}

nb::tuple layered_loss(In<double, 2> scores, LabelRows order, LabelRows layer, int decomposition) {
    const LayeredGraphs graphs = layered_graphs(scores, order, layer);
    const Decomposition kind = decomposition_of(decomposition);
    auto loss = make_array<double, 1>({graphs.rows});
    auto incoming = make_array<double, 2>({graphs.rows, graphs.labels});
    auto outgoing = make_array<double, 2>({graphs.rows, graphs.labels});
    {
        Unlocked unlocked;
        prefero::layered_loss(scores.data(), graphs, kind,
                              {loss.data(), incoming.data(), outgoing.data()}, unlocked);
    }
    return nb::make_tuple(loss, incoming, outgoing);
}

double layered_gradient(Change<double, 2> scores, LabelRows order, LabelRows layer,
                        int decomposition, In<double, 1> row_weight) {
    const LayeredGraphs graphs = layered_graphs(scores, order, layer);
    require(row_weight.shape(0) == scores.shape(0), "one weight per row is needed");
    const Decomposition kind = decomposition_of(decomposition);
    Unlocked unlocked;
    return prefero::layered_gradient(scores.data(), graphs, kind, row_weight.data(), unlocked);
}

template <typename Value>
void sparse_product(Offsets X_begin, Labels X_column, In<Value, 1> X_value, In<Value, 2> dense,
                    Change<double, 2> result) {
    const CompressedRows<Value> X = compressed_rows(X_begin, X_column, X_value, dense.shape(0));
    require(result.shape(0) == X.rows && result.shape(1) == dense.shape(1),
            "result must have the rows of X and the columns of dense");
    Unlocked unlocked;
    prefero::sparse_product(X, dense.data(), dense.shape(1), result.data(), unlocked);
}

nb::tuple subgraph_loss(In<double, 2> scores, Offsets row_begin, Offsets subgraph_begin,
                        Labels preferred, Labels other) {
    const Subgraphs graphs =
        subgraphs(scores.shape(0), scores.shape(1), row_begin, subgraph_begin, preferred, other);
    auto loss = make_array<double, 1>({graphs.rows});
    auto incoming = make_array<double, 2>({graphs.rows, graphs.labels});
    auto outgoing = make_array<double, 2>({graphs.rows, graphs.labels});
    auto edge_weight = make_array<double, 1>({other.shape(0)});
    {
        Unlocked unlocked;
        prefero::subgraph_loss(scores.data(), graphs,
                               {loss.data(), incoming.data(), outgoing.data()}, edge_weight.data(),
                               unlocked);
    }
    return nb::make_tuple(loss, incoming, outgoing, edge_weight);
}

Out<std::int64_t, 2> layered_violations(In<double, 2> scores, LabelRows order, LabelRows layer,
                                        int decomposition) {
    const LayeredGraphs graphs = layered_graphs(scores, order, layer);
    const Decomposition kind = decomposition_of(decomposition);
    auto counts = make_array<std::int64_t, 2>({graphs.rows, 2});
    Unlocked unlocked;
    prefero::layered_violations(scores.data(), graphs, kind, counts.data(), unlocked);
    return counts;
}

Out<std::int64_t, 2> subgraph_violations(In<double, 2> scores, Offsets row_begin,
                                         Offsets subgraph_begin, Labels preferred, Labels other) {
    const Subgraphs graphs =
        subgraphs(scores.shape(0), scores.shape(1), row_begin, subgraph_begin, preferred, other);
    auto counts = make_array<std::int64_t, 2>({graphs.rows, 2});
    Unlocked unlocked;
    prefero::subgraph_violations(scores.data(), graphs, counts.data(), unlocked);
    return counts;
}

nb::tuple boosting_sums(In<double, 3> values, Offsets row_begin, Offsets subgraph_begin,
                        Labels preferred, Labels other, In<double, 1> edge_weight) {
    const Subgraphs graphs =
        subgraphs(values.shape(0), values.shape(1), row_begin, subgraph_begin, preferred, other);
    require(edge_weight.shape(0) == other.shape(0), "one weight per edge is needed");
    const std::size_t functions = values.shape(2);
    auto plus = make_array<double, 1>({functions});
    auto minus = make_array<double, 1>({functions});
    {
        Unlocked unlocked;
        prefero::boosting_sums(values.data(), functions, graphs, edge_weight.data(), plus.data(),
                               minus.data(), unlocked);
    }
    return nb::make_tuple(plus, minus);
}

nb::tuple perceptron_epoch(Offsets X_begin, Labels X_column, In<double, 1> X_value,
                           Offsets edge_begin, Labels preferred, Labels other,
                           In<double, 1> row_weight, Offsets order, double margin,
                           std::int64_t alpha, bool alpha_per_edge, Change<double, 2> weights,
                           Change<double, 2> drift, Change<std::int64_t, 1> updates,
                           std::int64_t steps) {
    const std::size_t rows = order.shape(0);
    const SparseRows X = compressed_rows(X_begin, X_column, X_value, weights.shape(0));
    require_same_shape(weights, drift);
    require(X.rows == rows && edge_begin.shape(0) == rows + 1 && row_weight.shape(0) == rows,
            "features, edges, weights and order must have the same rows");
    require_starts(edge_begin, other.shape(0), "edge_begin must ascend to the number of edges");
    require_edges(preferred, other, weights.shape(1));
    require_below(order, rows, "order must hold rows");
    require(updates.shape(0) == (alpha_per_edge ? other.shape(0) : rows),
            "updates must count rows or edges");
    PerceptronState state{weights.data(), drift.data(), updates.data(), steps};
    std::int64_t violated = 0;
    {
        Unlocked unlocked;
        violated = prefero::perceptron_epoch(X, {edge_begin.data(), preferred.data(), other.data()},
                                             row_weight.data(), order.data(), weights.shape(1),
                                             {margin, alpha, alpha_per_edge}, state, unlocked);
    }
    return nb::make_tuple(violated, state.steps);
}

nb::tuple perceptron_layers_epoch(Offsets X_begin, Labels X_column, In<double, 1> X_value,
                                  LabelRows labels, LabelRows layer, In<double, 1> row_weight,
                                  Offsets order, double margin, std::int64_t alpha,
                                  bool alpha_per_edge, Change<double, 2> weights,
                                  Change<double, 2> drift, Change<std::int64_t, 1> updates,
                                  std::int64_t steps) {
    const std::size_t rows = order.shape(0);
    const SparseRows X = compressed_rows(X_begin, X_column, X_value, weights.shape(0));
    require_same_shape(weights, drift);
    require_same_shape(labels, layer);
    require(X.rows == rows && labels.shape(0) == rows && row_weight.shape(0) == rows,
            "features, labels, weights and order must have the same rows");
    require(labels.shape(1) == weights.shape(1), "labels must have one column per label");
    require_below(labels, weights.shape(1), "labels must hold labels");
    require_below(order, rows, "order must hold rows");
    const LayeredGraphs graphs{labels.data(), layer.data(), rows, weights.shape(1)};
    const auto edges = static_cast<std::size_t>(layered_edge_begin(graphs).back());
    require(updates.shape(0) == (alpha_per_edge ? edges : rows),
            "updates must count rows or edges");
    PerceptronState state{weights.data(), drift.data(), updates.data(), steps};
    std::int64_t violated = 0;
    {
        Unlocked unlocked;
        violated = prefero::perceptron_epoch(X, graphs, row_weight.data(), order.data(),
                                             {margin, alpha, alpha_per_edge}, state, unlocked);
    }
    return nb::make_tuple(violated, state.steps);
}

}  // namespace

void bind_preferences(nb::module_& module) {
    module.def("layered_loss", &layered_loss, nb::arg("scores"), nb::arg("order"), nb::arg("layer"),
               nb::arg("decomposition"),
               "Loss of each row; edge weights by the label they enter and the one they leave.");
    module.def("layered_gradient", &layered_gradient, nb::arg("scores"), nb::arg("order"),
               nb::arg("layer"), nb::arg("decomposition"), nb::arg("row_weight"),
               "The weighted sum of the rows' losses; scores become its derivatives.");
    module.def("sparse_product", &sparse_product<double>, nb::arg("X_begin"), nb::arg("X_column"),
               nb::arg("X_value"), nb::arg("dense"), nb::arg("result"),
               "Write the product of compressed rows X and a dense matrix into result.");
    module.def("sparse_product", &sparse_product<float>, nb::arg("X_begin"), nb::arg("X_column"),
               nb::arg("X_value"), nb::arg("dense"), nb::arg("result"),
               "The same in single precision.");
    module.def("subgraph_loss", &subgraph_loss, nb::arg("scores"), nb::arg("row_begin"),
               nb::arg("subgraph_begin"), nb::arg("preferred"), nb::arg("other"),
               "The same for any subgraphs, and the weight of every edge.");
    module.def("layered_violations", &layered_violations, nb::arg("scores"), nb::arg("order"),
               nb::arg("layer"), nb::arg("decomposition"),
               "Violated and all subgraphs: two counts per row.");
    module.def("subgraph_violations", &subgraph_violations, nb::arg("scores"), nb::arg("row_begin"),
               nb::arg("subgraph_begin"), nb::arg("preferred"), nb::arg("other"),
               "The same for any subgraphs.");
    module.def("boosting_sums", &boosting_sums, nb::arg("values"), nb::arg("row_begin"),
               nb::arg("subgraph_begin"), nb::arg("preferred"), nb::arg("other"),
               nb::arg("edge_weight"), "W+ and W- of every base function.");
    module.def("perceptron_epoch", &perceptron_epoch, nb::arg("X_begin"), nb::arg("X_column"),
               nb::arg("X_value"), nb::arg("edge_begin"), nb::arg("preferred"), nb::arg("other"),
               nb::arg("row_weight"), nb::arg("order"), nb::arg("margin"), nb::arg("alpha"),
               nb::arg("alpha_per_edge"), nb::arg("weights"), nb::arg("drift"), nb::arg("updates"),
               nb::arg("steps"),
               "One pass of constraint classification; changes weights, drift and updates. "
               "Violated preferences and visits so far.");
    module.def("perceptron_layers_epoch", &perceptron_layers_epoch, nb::arg("X_begin"),
               nb::arg("X_column"), nb::arg("X_value"), nb::arg("labels"), nb::arg("layer"),
               nb::arg("row_weight"), nb::arg("order"), nb::arg("margin"), nb::arg("alpha"),
               nb::arg("alpha_per_edge"), nb::arg("weights"), nb::arg("drift"), nb::arg("updates"),
               nb::arg("steps"), "The same of layers, whose edges are not written out.");
}

}  // namespace prefero::bindings
