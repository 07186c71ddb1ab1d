#include <vector>

#include "check.hpp"
#include "core/concordance.hpp"
#include "core/greedy_order.hpp"
#include "core/rank_boost.hpp"
#include "core/rank_svm.hpp"

using namespace prefero;

namespace {
const std::vector<std::int64_t> kStarts{0, 3, 3, 4};  // three objects, an empty group, one object
const Groups kGroups{kStarts.data(), 3};
}  // namespace

TEST(an_order_agrees_with_itself) {
    const std::vector<double> values{3, 2, 1, 9}, positions{1, 2, 3, 1}, exact{0};
    for (Correlation correlation :
         {Correlation::kTauA, Correlation::kTauB, Correlation::kRhoA, Correlation::kSpearman}) {
        std::vector<double> sums{0};
        add_concordance(values.data(), 1, positions.data(), kGroups, exact.data(), correlation,
                        sums.data(), to_the_end);
        CHECK(check::near(sums[0], 1.0));
    }
}

TEST(a_difference_within_the_tolerance_is_a_tie) {
    const std::vector<double> values{1 + 1e-15, 1, 1, 0}, positions{1, 2, 3, 1}, tolerance{1e-12};
    std::vector<double> sums{0};
    add_concordance(values.data(), 1, positions.data(), kGroups, tolerance.data(),
                    Correlation::kTauB, sums.data(), to_the_end);
    CHECK(sums[0] == 0.0);
}

TEST(the_pair_hinge_counts_active_pairs) {
    const std::vector<double> scores{2.5, 0, 0.5, 7};
    const std::vector<std::int64_t> levels{0, 1, 2, 0};
    std::vector<std::int64_t> by_score(4);
    sort_by_score(scores.data(), kGroups, by_score.data());
    CHECK(by_score[0] == 1 && by_score[1] == 2 && by_score[2] == 0 && by_score[3] == 3);
    const std::vector<double> ones(4, 1.0), weights{1, 3, 2, 1};
    const ScoredOrders orders{scores.data(), levels.data(), ones.data(), by_score.data(), kGroups};
    std::vector<double> gradient(4), active(4), product(4);
    // Only the pair (1, 2) is closer than the margin: 1 - (0 - 0.5) = 1.5.
    CHECK(check::near(pair_hinge(orders, gradient.data(), active.data(), to_the_end), 2.25));
    CHECK(check::near(gradient[1], -3) && check::near(gradient[2], 3) && gradient[0] == 0);
    const std::vector<double> vector{5, 1, 0, 5};
    pair_hinge_hessian(orders, active.data(), vector.data(), product.data(), to_the_end);
    CHECK(check::near(product[1], 2) && check::near(product[2], -2) && product[3] == 0);
    const ScoredOrders weighted{scores.data(), levels.data(), weights.data(), by_score.data(),
                                kGroups};
    CHECK(check::near(pair_hinge(weighted, gradient.data(), active.data(), to_the_end), 6 * 2.25));
    CHECK(check::near(gradient[1], 6 * -3) && check::near(active[2], 6));
}

TEST(a_missing_value_may_be_the_best_evidence) {
    // Two orders of two objects: the better one has no value of the only attribute.
    const std::vector<std::uint8_t> codes{255, 0, 255, 0};
    const std::vector<std::int64_t> bins{1}, starts{0, 2, 4}, none{0};
    const std::vector<double> positions{1, 2, 1, 2}, weights(4, 1.0);
    const BoostingSet<std::uint8_t> train{{codes.data(), bins.data(), 4, 1},
                                          {positions.data(), weights.data(), {starts.data(), 2}}};
    const BoostingSet<std::uint8_t> held{{nullptr, bins.data(), 0, 1},
                                         {nullptr, nullptr, {none.data(), 0}}};
    const std::vector<WeakRanker> found = rank_boost(train, held, {1, 1.0, 1}, to_the_end);
    CHECK(found.size() == 1 && found[0].attribute == 0 && found[0].bin == -1);
    CHECK(!found[0].missing && found[0].weight < -1);
}

TEST(the_greedy_order_follows_the_heavier_attribute) {
    const std::vector<double> values{0, 9, 2, 5, 1, 7, 0, 0}, weights{1.0, 0.4};
    std::vector<std::int64_t> places(4);
    greedy_order(values.data(), 2, weights.data(), kGroups, places.data(), to_the_end);
    CHECK(places[0] == 3 && places[1] == 1 && places[2] == 2 && places[3] == 1);
}
