#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "core/logistic.hpp"

using namespace prefero;

namespace {

// Scores from far below 0 to far above, both classes and rows that take no part.
struct Case {
    std::size_t rows, problems = 1100;
    std::vector<double> scores, weights;
    std::vector<std::int8_t> signs;

    explicit Case(bool weight_a_problem, double even_weight = 0, std::size_t some_rows = 7)
        : rows(some_rows) {
        for (std::size_t k = 0; k < rows * problems; ++k) {
            scores.push_back((static_cast<double>(k * 37 % 1999) - 999) / (k % 5 == 0 ? 1 : 60));
            signs.push_back(static_cast<std::int8_t>(static_cast<int>(k * 11 % 3) - 1));
        }
        const std::size_t count = weight_a_problem ? rows * problems : rows;
        for (std::size_t k = 0; k < count; ++k)
            weights.push_back(even_weight > 0 ? even_weight : 0.25 + static_cast<double>(k % 9));
    }
};

double loss_of(double margin) {
    return std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0);
}

void check_derivatives(const Case& given, bool weight_a_problem) {
    std::vector<double> found = given.scores, curvatures(found.size());
    std::vector<double> losses(given.problems), expected(given.problems);
    Uninterrupted interruption;
    logistic_derivatives(
        {given.signs.data(), given.weights.data(), weight_a_problem, given.rows, given.problems},
        found.data(), losses.data(), curvatures.data(), interruption);
    for (std::size_t k = 0; k < found.size(); ++k) {
        const std::size_t row = k / given.problems, problem = k % given.problems;
        const double sign = given.signs[k], margin = sign * given.scores[k];
        const double weight = sign == 0 ? 0 : given.weights[weight_a_problem ? k : row];
        const double error = 1 / (1 + std::exp(margin));
        CHECK(std::abs(found[k] - weight * sign * error) <= 1e-14 * weight);
        CHECK(std::abs(curvatures[k] - weight * error * (1 - error)) <= 1e-14 * weight);
        expected[problem] += weight * loss_of(margin);
    }
    for (std::size_t problem = 0; problem < given.problems; ++problem)
        CHECK(std::abs(losses[problem] - expected[problem]) <= 1e-13 * expected[problem]);
}

}  // namespace

TEST(logistic_derivatives_are_those_of_the_formula) { check_derivatives(Case(false), false); }

TEST(logistic_derivatives_with_a_weight_a_row_and_problem) { check_derivatives(Case(true), true); }

// More rows than a product has factors.
TEST(logistic_derivatives_of_rows_that_count_alike) {
    check_derivatives(Case(false, 0.75, 2100), false);
}

TEST(logistic_losses_add_up_and_need_no_curvature) {
    double score = 0, loss = 5, weight = 2;
    const std::int8_t sign = -1;
    Uninterrupted interruption;
    logistic_derivatives({&sign, &weight, false, 1, 1}, &score, &loss, nullptr, interruption);
    CHECK(check::near(loss, 5 + 2 * std::log(2.0)));
    CHECK(score == -1);
}

TEST(sign_weights_are_those_of_either_class) {
    for (const bool weight_a_problem : {false, true}) {
        const Case given(weight_a_problem);
        std::vector<double> found(2 * given.problems, 7.0), expected(2 * given.problems);
        Uninterrupted interruption;
        sign_weights({given.signs.data(), given.weights.data(), weight_a_problem, given.rows,
                      given.problems},
                     found.data(), interruption);
        for (std::size_t k = 0; k < given.signs.size(); ++k) {
            const double weight = given.weights[weight_a_problem ? k : k / given.problems];
            const std::size_t second = given.signs[k] < 0 ? given.problems : 0;
            if (given.signs[k] != 0) expected[second + k % given.problems] += weight;
        }
        CHECK(found == expected);
    }
}
