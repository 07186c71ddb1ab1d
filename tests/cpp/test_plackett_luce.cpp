#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "core/plackett_luce.hpp"

using namespace prefero;

TEST(worths_follow_the_shares_of_wins) {
    // Two labels, three wins to one; the prior adds one win to each: 4 to 2.
    const std::vector<double> ranks{1, 2, 2, 1}, weights{3, 1};
    const std::int64_t starts[] = {0, 2}, rows[] = {0, 1};
    double log_worth[2];
    std::int64_t rounds;
    fit_plackett_luce_batch({ranks.data(), 2, 2}, {starts, rows, weights.data(), 1},
                            {1.0, 1e-12, 1000}, log_worth, &rounds, to_the_end);
    CHECK(check::near(std::exp(log_worth[0]), 4.0 / 6, 1e-7));
    CHECK(check::near(std::exp(log_worth[1]), 2.0 / 6, 1e-7));
    CHECK(rounds < 1000);
}

TEST(rankings_without_a_choice_leave_the_prior) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> ranks{1, unknown, unknown, 2, 2, 2}, weights{1, 1};
    const std::int64_t starts[] = {0, 2}, rows[] = {0, 1};
    double log_worth[3];
    std::int64_t rounds;
    fit_plackett_luce_batch({ranks.data(), 2, 3}, {starts, rows, weights.data(), 1},
                            {0.1, 1e-9, 10}, log_worth, &rounds, to_the_end);
    CHECK(log_worth[0] == log_worth[1] && log_worth[1] == log_worth[2]);
}
