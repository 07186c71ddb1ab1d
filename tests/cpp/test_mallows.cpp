#include <limits>
#include <vector>

#include "check.hpp"
#include "core/mallows.hpp"

using namespace prefero;

namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Fit {
    std::vector<double> votes;
    double theta;
};

Fit fit_all(const std::vector<double>& ranks, std::size_t labels, std::vector<double> weights) {
    const std::size_t rows = ranks.size() / labels;
    std::vector<std::int64_t> members(rows);
    for (std::size_t i = 0; i < rows; ++i) members[i] = static_cast<std::int64_t>(i);
    const std::int64_t starts[] = {0, static_cast<std::int64_t>(rows)};
    Fit fit{std::vector<double>(labels), 0};
    fit_mallows_batch({ranks.data(), rows, labels}, {starts, members.data(), weights.data(), 1}, 20,
                      fit.votes.data(), &fit.theta, to_the_end);
    return fit;
}

}  // namespace

TEST(theta_inverts_the_mean_distance) {
    for (std::size_t labels : {2u, 3u, 10u, 200u})
        for (double theta : {1e-9, 1e-3, 0.5, 0.99, 1.01, 4.0, 30.0}) {
            const double mean = mallows_moments(theta, labels).mean;
            CHECK(check::near(mallows_theta(mean, labels) / theta, 1, 1e-5));
        }
}

TEST(both_forms_of_the_moments_meet) {
    for (std::size_t labels : {2u, 10u, 200u}) {
        const DistanceMoments below = mallows_moments(std::nextafter(1.0, 0.0), labels);
        const DistanceMoments above = mallows_moments(1.0, labels);
        CHECK(check::near(below.mean / above.mean, 1, 1e-12));
        CHECK(check::near(below.variance / above.variance, 1, 1e-12));
    }
}

TEST(the_table_agrees_with_the_solver) {
    for (std::size_t labels : {2u, 5u, 16u, 100u}) {
        const ThetaTable table(labels);
        for (double share = 1e-12; share < 1; share = share * 1.7 + 1e-3 * share) {
            const double mean = share * uniform_mean_distance(labels);
            CHECK(check::near(table(mean) / mallows_theta(mean, labels), 1, 1e-5));
        }
        CHECK(std::isinf(table(0)));
        CHECK(table(uniform_mean_distance(labels)) == 0);
        CHECK(table(2 * uniform_mean_distance(labels)) == 0);
    }
    CHECK(std::isinf(ThetaTable(1)(0)));
}

TEST(a_pure_sample_has_infinite_theta) {
    const Fit fit = fit_all({1, 2, 3, kUnknown, 1, 2}, 3, {1, 1});
    CHECK(std::isinf(fit.theta));
    CHECK(fit.votes[0] > fit.votes[1] && fit.votes[1] > fit.votes[2]);
}

TEST(opposite_rankings_have_theta_zero) { CHECK(fit_all({1, 2, 2, 1}, 2, {1, 1}).theta == 0); }

TEST(a_set_without_weight_says_nothing) {
    const Fit fit = fit_all({1, 2, kUnknown, kUnknown}, 2, {0, 1});
    CHECK(fit.theta == 0);
    CHECK(fit.votes[0] == 1.5 && fit.votes[1] == 1.5);
}

TEST(pair_probabilities_of_two_labels) {
    const std::int64_t center[] = {2, 1};
    double probability[4];
    mallows_pairwise(center, 0.7, 2, probability);
    CHECK(check::near(probability[2], 1 / (1 + std::exp(-0.7))));
    CHECK(check::near(probability[1] + probability[2], 1));
    CHECK(probability[0] == 0.5);
}
