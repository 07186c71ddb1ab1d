#include <vector>

#include "check.hpp"
#include "core/perceptron.hpp"

using namespace prefero;

TEST(a_failed_preference_moves_both_labels) {
    const std::vector<std::int64_t> X_begin{0, 2, 2}, edge_begin{0, 1, 1}, order{0, 1};
    const std::vector<std::int32_t> column{0, 1}, preferred{1}, other{0};
    const std::vector<double> value{2, -1}, row_weight{1, 1};
    std::vector<double> weights(4), drift(4);
    std::vector<std::int64_t> updates(1);
    PerceptronState state{weights.data(), drift.data(), updates.data(), 0};
    const SparseRows X{X_begin.data(), column.data(), value.data(), 2};
    const EdgeLists edges{edge_begin.data(), preferred.data(), other.data()};
    const PerceptronOptions options{0, 1, true};
    CHECK(perceptron_epoch(X, edges, row_weight.data(), order.data(), 2, options, state,
                           to_the_end) == 1);
    CHECK(weights == (std::vector<double>{-2, 2, 1, -1}));
    CHECK(updates[0] == 1);
    CHECK(perceptron_epoch(X, edges, row_weight.data(), order.data(), 2, options, state,
                           to_the_end) == 0);
    CHECK(state.steps == 4);
}

TEST(an_example_that_spent_its_updates_is_ignored) {
    const std::vector<std::int64_t> X_begin{0, 1}, edge_begin{0, 2}, order{0};
    const std::vector<std::int32_t> column{0}, preferred{0, 1}, other{1, 2};
    const std::vector<double> value{1}, row_weight{1};
    std::vector<double> weights(3), drift(3);
    std::vector<std::int64_t> updates{5};
    PerceptronState state{weights.data(), drift.data(), updates.data(), 0};
    const std::int64_t violated =
        perceptron_epoch({X_begin.data(), column.data(), value.data(), 1},
                         {edge_begin.data(), preferred.data(), other.data()}, row_weight.data(),
                         order.data(), 3, {0, 5, false}, state, to_the_end);
    CHECK(violated == 0);
    CHECK(weights[0] == 0);
}

TEST(layers_are_checked_as_their_edges) {
    // Labels 2 and 0 before 1 in the first row; 3 before 1 and 0 in the second, and 2 is unknown.
    const std::vector<std::int32_t> order{2, 0, 1, 3, 3, 1, 0, 2}, layer{0, 0, 1, -1, 0, 1, 1, -1};
    const std::vector<std::int32_t> preferred{2, 0, 3, 3}, other{1, 1, 1, 0};
    const std::vector<std::int64_t> edge_begin{0, 2, 4}, X_begin{0, 1, 3}, rows{1, 0};
    const std::vector<std::int32_t> column{0, 0, 1};
    const std::vector<double> value{2, -1, 3}, row_weight{1, 2};
    const SparseRows X{X_begin.data(), column.data(), value.data(), 2};
    const LayeredGraphs graphs{order.data(), layer.data(), 2, 4};
    CHECK(layered_edge_begin(graphs) == edge_begin);
    for (const bool alpha_per_edge : {true, false}) {
        std::vector<double> weights[2], drift[2];
        std::vector<std::int64_t> updates[2];
        std::int64_t violated[2];
        for (int layered = 0; layered < 2; ++layered) {
            weights[layered].resize(8);
            drift[layered].resize(8);
            updates[layered].resize(alpha_per_edge ? 4 : 2);
            PerceptronState state{weights[layered].data(), drift[layered].data(),
                                  updates[layered].data(), 0};
            const PerceptronOptions options{0.5, 2, alpha_per_edge};
            violated[layered] = 0;
            for (int epoch = 0; epoch < 4; ++epoch) {
                violated[layered] +=
                    layered ? perceptron_epoch(X, graphs, row_weight.data(), rows.data(), options,
                                               state, to_the_end)
                            : perceptron_epoch(
                                  X, {edge_begin.data(), preferred.data(), other.data()},
                                  row_weight.data(), rows.data(), 4, options, state, to_the_end);
            }
        }
        CHECK(violated[0] > 0);
        CHECK(violated[0] == violated[1]);
        CHECK(weights[0] == weights[1]);
        CHECK(drift[0] == drift[1]);
        CHECK(updates[0] == updates[1]);
    }
}
