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
