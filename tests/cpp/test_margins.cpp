#include <limits>
#include <vector>

#include "check.hpp"
#include "core/margins.hpp"

using namespace prefero;

namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST(outcomes_know_ties_and_unknown_labels) {
    const std::vector<double> ranks{1, 2, 2, kUnknown, 2, 1};
    const std::vector<std::int64_t> first{0, 1, 2}, second{1, 2, 0};
    std::vector<double> outcomes(6), margins(6);
    pair_outcomes({ranks.data(), 2, 3}, {first.data(), second.data(), 3}, outcomes.data());
    CHECK(outcomes[0] == 1 && outcomes[1] == 0.5 && outcomes[2] == 0);
    CHECK(!known(outcomes[3]) && outcomes[4] == 0 && !known(outcomes[5]));
    score_margins(ranks.data(), 2, 3, {first.data(), second.data(), 3}, margins.data());
    CHECK(margins[0] == -1 && margins[1] == 0 && margins[2] == 1 && !known(margins[3]));
}

TEST(margins_beyond_the_last_end_stay_in_the_last_group) {
    const std::vector<double> margins{0.5, -3, kUnknown}, outcomes{1, 0.5, 1}, weights{2, 1, 1};
    const std::vector<double> ends{0.5, 1, 2};
    std::vector<GroupSums> sums(3, GroupSums{});
    sum_groups({margins.data(), outcomes.data(), weights.data(), 3, 1}, ends.data(), 3,
               sums.data());
    CHECK(sums[0].weight == 2 && sums[0].size == 1 && sums[0].ahead == 2 && sums[0].tied == 0);
    CHECK(sums[1].weight == 0);
    CHECK(sums[2].weight == 1 && sums[2].size == 3 && sums[2].ahead == 0.5 && sums[2].tied == 1);
}
