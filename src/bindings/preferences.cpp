#include "core/preferences.hpp"

#include "bindings/arrays.hpp"
#include "core/perceptron.hpp"
#include "core/sparse_rows.hpp"

namespace prefero::bindings {

namespace {

using Labels = In<std::int32_t, 1>;
using LabelRows = In<std::int32_t, 2>;
using Offsets = In<std::int64_t, 1>;

LayeredGraphs layered_graphs(const In<double, 2>& scores, const LabelRows& order,
                             const LabelRows& layer) {
    require_same_shape(scores, order);
    require_same_shape(scores, layer);
    return {order.data(), layer.data(), scores.shape(0), scores.shape(1)};
}

Subgraphs subgraphs(std::size_t rows, std::size_t labels, const Offsets& row_begin,
                    const Offsets& subgraph_begin, const Labels& preferred, const Labels& other) {
    require(row_begin.shape(0) == rows + 1, "row_begin must have one entry more than rows");
    const auto count = static_cast<std::size_t>(row_begin.data()[rows]);
    require(subgraph_begin.shape(0) == count + 1, "subgraph_begin does not fit row_begin");
    require(preferred.shape(0) == other.shape(0) &&
                static_cast<std::size_t>(subgraph_begin.data()[count]) == other.shape(0),
            "the edges do not fit subgraph_begin");
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
        nb::gil_scoped_release unlocked;
        prefero::layered_loss(scores.data(), graphs, kind,
                              {loss.data(), incoming.data(), outgoing.data()});
    }
    return nb::make_tuple(loss, incoming, outgoing);
}

double layered_gradient(Change<double, 2> scores, LabelRows order, LabelRows layer,
                        int decomposition, In<double, 1> row_weight) {
    require_same_shape(scores, order);
    require_same_shape(scores, layer);
    require(row_weight.shape(0) == scores.shape(0), "one weight a row is needed");
    const LayeredGraphs graphs{order.data(), layer.data(), scores.shape(0), scores.shape(1)};
    const Decomposition kind = decomposition_of(decomposition);
    nb::gil_scoped_release unlocked;
    return prefero::layered_gradient(scores.data(), graphs, kind, row_weight.data());
}

template <typename Value>
void sparse_product(Offsets X_begin, Labels X_column, In<Value, 1> X_value, In<Value, 2> dense,
                    Change<double, 2> result) {
    const std::size_t rows = result.shape(0), width = dense.shape(1);
    require(X_begin.shape(0) == rows + 1 && result.shape(1) == width,
            "result must have the rows of X and the columns of dense");
    nb::gil_scoped_release unlocked;
    prefero::sparse_product(
        CompressedRows<Value>{X_begin.data(), X_column.data(), X_value.data(), rows}, dense.data(),
        width, result.data());
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
        nb::gil_scoped_release unlocked;
        prefero::subgraph_loss(scores.data(), graphs,
                               {loss.data(), incoming.data(), outgoing.data()}, edge_weight.data());
    }
    return nb::make_tuple(loss, incoming, outgoing, edge_weight);
}

Out<std::int64_t, 2> layered_violations(In<double, 2> scores, LabelRows order, LabelRows layer,
                                        int decomposition) {
    const LayeredGraphs graphs = layered_graphs(scores, order, layer);
    const Decomposition kind = decomposition_of(decomposition);
    auto counts = make_array<std::int64_t, 2>({graphs.rows, 2});
    nb::gil_scoped_release unlocked;
    prefero::layered_violations(scores.data(), graphs, kind, counts.data());
    return counts;
}

Out<std::int64_t, 2> subgraph_violations(In<double, 2> scores, Offsets row_begin,
                                         Offsets subgraph_begin, Labels preferred, Labels other) {
    const Subgraphs graphs =
        subgraphs(scores.shape(0), scores.shape(1), row_begin, subgraph_begin, preferred, other);
    auto counts = make_array<std::int64_t, 2>({graphs.rows, 2});
    nb::gil_scoped_release unlocked;
    prefero::subgraph_violations(scores.data(), graphs, counts.data());
    return counts;
}

nb::tuple boosting_sums(In<double, 3> values, Offsets row_begin, Offsets subgraph_begin,
                        Labels preferred, Labels other, In<double, 1> edge_weight) {
    const Subgraphs graphs =
        subgraphs(values.shape(0), values.shape(1), row_begin, subgraph_begin, preferred, other);
    require(edge_weight.shape(0) == other.shape(0), "one weight an edge is needed");
    const std::size_t functions = values.shape(2);
    auto plus = make_array<double, 1>({functions});
    auto minus = make_array<double, 1>({functions});
    {
        nb::gil_scoped_release unlocked;
        prefero::boosting_sums(values.data(), functions, graphs, edge_weight.data(), plus.data(),
                               minus.data());
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
    require_same_shape(weights, drift);
    require(X_begin.shape(0) == rows + 1 && edge_begin.shape(0) == rows + 1 &&
                row_weight.shape(0) == rows,
            "features, edges, weights and order must have the same rows");
    require(updates.shape(0) == (alpha_per_edge ? other.shape(0) : rows),
            "updates must count rows or edges");
    PerceptronState state{weights.data(), drift.data(), updates.data(), steps};
    std::int64_t violated = 0;
    {
        nb::gil_scoped_release unlocked;
        violated = prefero::perceptron_epoch(
            {X_begin.data(), X_column.data(), X_value.data(), rows},
            {edge_begin.data(), preferred.data(), other.data()}, row_weight.data(), order.data(),
            weights.shape(1), {margin, alpha, alpha_per_edge}, state);
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
               "Violated and all subgraphs: two counts a row.");
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
}

}  // namespace prefero::bindings
