#include <algorithm>
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

// Edge by edge, in as many bits as there are.
Result edge_by_edge(const std::vector<double>& scores, Decomposition decomposition) {
    std::vector<std::vector<std::array<std::size_t, 2>>> subgraphs;
    for (std::size_t k = 0; k < 5; ++k) {
        subgraphs.emplace_back();
        for (std::size_t o = 0; o < 5; ++o) {
            const bool dominated = decomposition == Decomposition::kDominated;
            const std::size_t first = dominated ? o : k, second = dominated ? k : o;
            if (kLayer[first] >= kLayer[second]) continue;
            subgraphs.back().push_back({std::size_t(kOrder[first]), std::size_t(kOrder[second])});
            if (decomposition == Decomposition::kEdges) subgraphs.emplace_back();
        }
        if (decomposition == Decomposition::kGraph && k > 0) {
            subgraphs[0].insert(subgraphs[0].end(), subgraphs[1].begin(), subgraphs[1].end());
            subgraphs.pop_back();
        }
    }
    subgraphs.erase(std::remove_if(subgraphs.begin(), subgraphs.end(),
                                   [](const auto& edges) { return edges.empty(); }),
                    subgraphs.end());
    Result result;
    const auto count = static_cast<double>(subgraphs.size());
    for (const auto& edges : subgraphs) {
        long double total = 1;
        for (auto [first, second] : edges)
            total += std::exp(static_cast<long double>(scores[second]) - scores[first]);
        result.loss += static_cast<double>(std::log(total)) / count;
        for (auto [first, second] : edges) {
            const auto weight = static_cast<double>(
                std::exp(static_cast<long double>(scores[second]) - scores[first]) / total);
            result.outgoing[first] += weight / count;
            result.incoming[second] += weight / count;
        }
    }
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

// Exponentials of a wide row overflow, and long before that lose what is small beside them.
TEST(near_and_far_scores_have_the_loss_of_their_edges) {
    for (auto kind : {Decomposition::kGraph, Decomposition::kEdges, Decomposition::kDomination,
                      Decomposition::kDominated})
        for (double spread : {0.5, 20.0, 159.0, 161.0, 350.0, 700.0, 1500.0, 5000.0})
            for (std::size_t top = 0; top < 6; ++top) {
                std::vector<double> scores{0.1, -0.2, 0.3, 0.0, -0.4, 0.25};
                for (double& score : scores) score *= spread / 2;
                scores[top] += spread / 2;
                const Result expected = edge_by_edge(scores, kind), found = layered(scores, kind);
                CHECK(check::near(found.loss, expected.loss, 1e-12 * (1 + expected.loss)));
                for (std::size_t k = 0; k < 6; ++k) {
                    CHECK(check::near(found.incoming[k], expected.incoming[k], 1e-12));
                    CHECK(check::near(found.outgoing[k], expected.outgoing[k], 1e-12));
                }
            }
}

// The factors of many violated edges are multiplied before a logarithm is taken of them.
TEST(many_far_scores_have_the_loss_of_their_edges) {
    constexpr std::int32_t kSide = 12;
    std::vector<std::int32_t> order, layer;
    std::vector<double> scores;
    for (std::int32_t k = 0; k < 2 * kSide; ++k) {
        order.push_back(k);
        layer.push_back(k < kSide ? 0 : 1);
    }
    std::vector<double> loss(1), incoming(2 * kSide), outgoing(2 * kSide);
    for (double spread : {150.0, 170.0, 300.0, 705.0, 2000.0}) {
        scores.assign(kSide, 0.0);
        scores.resize(2 * kSide, spread);
        const auto mean_loss = [&](Decomposition kind) {
            layered_loss(scores.data(), {order.data(), layer.data(), 1, order.size()}, kind,
                         {loss.data(), incoming.data(), outgoing.data()}, to_the_end);
            return loss[0];
        };
        CHECK(check::near(mean_loss(Decomposition::kEdges), spread, 1e-9));
        const double many = spread + std::log(static_cast<double>(kSide));
        CHECK(check::near(mean_loss(Decomposition::kDomination), many, 1e-9));
        CHECK(check::near(mean_loss(Decomposition::kDominated), many, 1e-9));
        for (double weight : incoming) CHECK(std::isfinite(weight));
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
