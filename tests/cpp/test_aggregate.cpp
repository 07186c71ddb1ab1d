#include <limits>
#include <vector>

#include "check.hpp"
#include "core/aggregate.hpp"

using namespace prefero;

namespace {
const double kUnknown = std::numeric_limits<double>::quiet_NaN();
}

TEST(missing_labels_have_the_middle_vote) {
    const std::vector<double> ranks{1, kUnknown, 2, kUnknown, kUnknown, kUnknown};
    std::vector<double> votes(6);
    borda_votes(OrderedRows({ranks.data(), 2, 3}), 2, votes.data());
    CHECK(check::near(votes[0], 8.0 / 3));
    CHECK(check::near(votes[1], 2.0));
    CHECK(check::near(votes[2], 4.0 / 3));
    CHECK(votes[3] == 2 && votes[4] == 2 && votes[5] == 2);
}

TEST(labels_are_inserted_in_the_first_cheapest_gap) {
    // 1 > 0 is known and contradicts the center: label 2 fits as badly anywhere but at the end.
    const std::vector<double> ranks{2, 1, kUnknown}, center_votes{3, 2, 1};
    std::vector<double> positions(3);
    extend({ranks.data(), 1, 3}, center_votes.data(), 1, positions.data());
    CHECK(positions[0] == 2 && positions[1] == 1 && positions[2] == 3);
}

TEST(buckets_stay_whole) {
    const std::vector<double> ranks{1, 1, kUnknown, 1}, center_votes{4, 2, 3, 1};
    std::vector<double> positions(4);
    extend({ranks.data(), 1, 4}, center_votes.data(), 1, positions.data());
    CHECK(positions[2] == 1);
    CHECK(positions[0] == 3 && positions[1] == 3 && positions[3] == 3);
}

TEST(pairs_are_summed_by_weight) {
    const std::vector<double> ranks{1, 2, 2, 2, 1, kUnknown}, weights{0.5, 2};
    std::vector<double> sums(9);
    pair_sums({ranks.data(), 2, 3}, weights.data(), sums.data(), to_the_end);
    CHECK(sums[1] == 0.5 && sums[2] == 0.5);
    CHECK(sums[3] == 2 && sums[5] == 0 && sums[7] == 0);
}

TEST(one_label_moves_over_many) {
    // Everyone puts label 3 first; the start puts it last.
    const std::vector<double> ranks{2, 3, 4, 1}, weights{1};
    std::vector<double> sums(16);
    pair_sums({ranks.data(), 1, 4}, weights.data(), sums.data(), to_the_end);
    std::vector<std::int64_t> order{0, 1, 2, 3};
    improve_order(sums.data(), 4, order.data());
    CHECK(order == (std::vector<std::int64_t>{3, 0, 1, 2}));
}
