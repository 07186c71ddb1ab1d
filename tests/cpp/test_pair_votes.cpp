#include <limits>
#include <vector>

#include "check.hpp"
#include "core/pair_votes.hpp"

using namespace prefero;

namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> votes_of(const std::vector<double>& ranks, std::size_t labels, double prior) {
    const std::size_t rows = ranks.size() / labels;
    std::vector<std::int64_t> members(rows);
    for (std::size_t i = 0; i < rows; ++i) members[i] = static_cast<std::int64_t>(i);
    const std::vector<double> weights(rows, 1.0);
    const std::int64_t starts[] = {0, static_cast<std::int64_t>(rows)};
    std::vector<double> votes(labels);
    double theta = 0;
    pair_votes_batch({ranks.data(), rows, labels}, {starts, members.data(), weights.data(), 1},
                     prior, votes.data(), &theta, to_the_end);
    return votes;
}

}  // namespace

TEST(complete_rankings_give_borda_votes) {
    const auto votes = votes_of({1, 2, 3, 1, 3, 2}, 3, 0);
    CHECK(check::near(votes[0], 3.0, 1e-7));
    CHECK(check::near(votes[1], 1.5, 1e-7));
    CHECK(check::near(votes[2], 1.5, 1e-7));
}

TEST(a_pair_no_row_orders_stays_open) {
    const auto votes = votes_of({1, kUnknown, 2, kUnknown, 1, 2}, 3, 0.1);
    CHECK(votes[0] == votes[1]);
    CHECK(votes[0] > votes[2]);
}

TEST(a_set_without_members_has_middle_votes) {
    std::vector<double> votes(3);
    double theta = -1;
    const std::int64_t starts[] = {0, 0};
    const double ranks[] = {1, 2, 3};
    pair_votes_batch({ranks, 1, 3}, {starts, nullptr, nullptr, 1}, 0.1, votes.data(), &theta,
                     to_the_end);
    CHECK(votes[0] == 2 && votes[1] == 2 && votes[2] == 2);
    CHECK(theta == 0);
}
