#include <array>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "core/preferences.hpp"

using namespace prefero;

namespace {

// Five labels in three layers, and one that takes no part.
const std::vector<std::int32_t> kOrder{1, 0, 4, 2, 5, 3};
const std::vector<std::int32_t> kLayer{0, 1, 1, 2, 2, -1};
const LayeredGraphs kGraph{kOrder.data(), kLayer.data(), 1, 6};

struct Result {
    double loss = 0;
    std::array<double, 6> incoming{}, outgoing{};
};

Result layered(const std::vector<double>& scores, Decomposition decomposition) {
    Result result;
    layered_loss(scores.data(), kGraph, decomposition,
                 {&result.loss, result.incoming.data(), result.outgoing.data()}, to_the_end);
    return result;
}

}  // namespace

TEST(equal_scores_cost_the_logarithm_of_one_more_than_the_edges) {
    const std::vector<double> zero(6, 0.0);
    CHECK(check::near(layered(zero, Decomposition::kGraph).loss, std::log(9.0)));
    CHECK(check::near(layered(zero, Decomposition::kEdges).loss, std::log(2.0)));
    const double domination = (std::log(5.0) + 2 * std::log(3.0)) / 3;
    CHECK(check::near(layered(zero, Decomposition::kDomination).loss, domination));
    const double dominated = (2 * std::log(2.0) + 2 * std::log(4.0)) / 4;
    CHECK(check::near(layered(zero, Decomposition::kDominated).loss, dominated));
}

TEST(far_apart_scores_stay_finite_and_meet_the_near_ones) {
    for (auto kind : {Decomposition::kGraph, Decomposition::kEdges, Decomposition::kDomination,
                      Decomposition::kDominated}) {
        const Result near = layered({159.9, 0, 3, 7, 1, 2}, kind);
        const Result far = layered({160.1, 0, 3, 7, 1, 2}, kind);
        CHECK(std::fabs(near.loss - far.loss) < 0.2);
        for (std::size_t k = 0; k < 6; ++k)
            CHECK(std::fabs(near.incoming[k] - far.incoming[k]) < 1e-9);
        CHECK(std::isfinite(layered({1e6, 0, 0, -1e6, 5e5, 0}, kind).loss));
    }
}

TEST(a_label_that_takes_no_part_has_no_weight) {
    const Result result = layered({1, 2, 3, 4, 5, 6}, Decomposition::kEdges);
    CHECK(result.incoming[3] == 0 && result.outgoing[3] == 0);
}

TEST(equal_scores_violate_an_edge) {
    const std::vector<double> scores{2, 3, 1, 9, 2, 2};
    std::vector<std::int64_t> counts(2);
    layered_violations(scores.data(), kGraph, Decomposition::kEdges, counts.data(), to_the_end);
    CHECK(counts[0] == 2 && counts[1] == 8);
    layered_violations(scores.data(), kGraph, Decomposition::kDomination, counts.data(),
                       to_the_end);
    CHECK(counts[0] == 2 && counts[1] == 3);
    layered_violations(scores.data(), kGraph, Decomposition::kDominated, counts.data(), to_the_end);
    CHECK(counts[0] == 1 && counts[1] == 4);
    layered_violations(scores.data(), kGraph, Decomposition::kGraph, counts.data(), to_the_end);
    CHECK(counts[0] == 1 && counts[1] == 1);
}

TEST(an_edge_may_lie_in_two_subgraphs) {
    const std::vector<std::int64_t> row_begin{0, 2, 2}, subgraph_begin{0, 2, 3};
    const std::vector<std::int32_t> preferred{0, 1, 0}, other{1, 2, 1};
    const Subgraphs graphs{
        row_begin.data(), subgraph_begin.data(), preferred.data(), other.data(), 2, 3};
    const std::vector<double> scores(6, 0.0);
    std::vector<double> loss(2), incoming(6), outgoing(6), weight(3);
    subgraph_loss(scores.data(), graphs, {loss.data(), incoming.data(), outgoing.data()},
                  weight.data(), to_the_end);
    CHECK(check::near(loss[0], (std::log(3.0) + std::log(2.0)) / 2));
    CHECK(loss[1] == 0);
    CHECK(check::near(outgoing[0], (1 / 3.0 + 1 / 2.0) / 2));
    CHECK(check::near(incoming[2], 1 / 6.0));
    CHECK(check::near(weight[2], 1 / 4.0));
}

TEST(boosting_sums_part_the_signs) {
    const std::vector<std::int64_t> row_begin{0, 1}, subgraph_begin{0, 2};
    const std::vector<std::int32_t> preferred{0, 1}, other{1, 2};
    const Subgraphs graphs{
        row_begin.data(), subgraph_begin.data(), preferred.data(), other.data(), 1, 3};
    const std::vector<double> values{1, 3, 0}, weight{0.5, 0.25};
    double plus = 0, minus = 0;
    boosting_sums(values.data(), 1, graphs, weight.data(), &plus, &minus, to_the_end);
    CHECK(check::near(plus, 1.0));
    CHECK(check::near(minus, 0.75));
}
