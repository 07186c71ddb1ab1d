#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "core/newton_logistic.hpp"

using namespace prefero;

namespace {

// Both classes and rows that take no part; scores from far below 0 to far above.
struct Case {
    std::size_t rows, columns, problems = 21;
    std::vector<float> x, coefficients;
    std::vector<std::int8_t> signs;
    std::vector<double> weights;
    std::vector<std::int64_t> chosen;
    bool weight_a_problem;

    Case(std::size_t some_rows, std::size_t some_columns, std::vector<std::int64_t> some,
         bool a_weight_a_problem)
        : rows(some_rows),
          columns(some_columns),
          chosen(std::move(some)),
          weight_a_problem(a_weight_a_problem) {
        for (std::size_t k = 0; k < rows * columns; ++k)
            x.push_back(static_cast<float>(k * 37 % 199) / 50 - 2);
        for (std::size_t k = 0; k < chosen.size() * columns; ++k)
            coefficients.push_back(static_cast<float>(k * 53 % 101) / (k % 7 == 0 ? 1 : 40) - 1);
        for (std::size_t k = 0; k < rows * problems; ++k)
            signs.push_back(static_cast<std::int8_t>(static_cast<int>(k * 11 % 3) - 1));
        for (std::size_t k = 0; k < (weight_a_problem ? rows * problems : rows); ++k)
            weights.push_back(0.25 + static_cast<double>(k % 9));
    }

    LogisticProblems data() const {
        return {signs.data(), weights.data(), weight_a_problem, rows, problems};
    }
    LinearModels models() const {
        return {x.data(), columns, chosen.data(), coefficients.data(), chosen.size()};
    }
};

void check_derivatives(const Case& given) {
    const std::size_t columns = given.columns, entries = columns * (columns + 1) / 2;
    std::vector<double> gradients(given.chosen.size() * columns);
    std::vector<double> triangles(given.chosen.size() * entries);
    Uninterrupted interruption;
    logistic_gradients(given.data(), given.models(), gradients.data(), interruption);
    logistic_hessians(given.data(), given.models(), triangles.data(), interruption);
    for (std::size_t m = 0; m < given.chosen.size(); ++m) {
        std::vector<double> gradient(columns), triangle(entries);
        double total = 0;
        for (std::size_t row = 0; row < given.rows; ++row) {
            const auto at = row * given.problems + static_cast<std::size_t>(given.chosen[m]);
            const float *x = given.x.data() + row * columns,
                        *own = given.coefficients.data() + m * columns;
            double score = 0;
            for (std::size_t k = 0; k < columns; ++k) score += double{x[k]} * own[k];
            const double sign = given.signs[at], error = 1 / (1 + std::exp(sign * score));
            const double weight = given.weights[given.weight_a_problem ? at : row];
            std::size_t entry = 0;
            for (std::size_t k = 0; k < columns; ++k) {
                gradient[k] -= weight * sign * error * x[k];
                for (std::size_t l = k; l < columns; ++l)
                    triangle[entry++] += weight * sign * sign * error * (1 - error) * x[k] * x[l];
            }
            total += weight;
        }
        for (std::size_t k = 0; k < columns; ++k)
            CHECK(std::abs(gradients[m * columns + k] - gradient[k]) <= 2e-6 * total);
        for (std::size_t k = 0; k < entries; ++k)
            CHECK(std::abs(triangles[m * entries + k] - triangle[k]) <= 2e-6 * total);
    }
}

}  // namespace

// Rows and columns that fill no tile, one and more than one; problems side by side or apart, whose
// number is no multiple of the SIMD width.
TEST(newton_logistic_derivatives_are_those_of_the_formula) {
    check_derivatives(Case(300, 5, {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, false));
    check_derivatives(Case(128, 8, {20, 0, 7, 7, 3}, false));
    check_derivatives(Case(131, 1, {1}, true));
    check_derivatives(Case(9, 3, {2, 4, 3, 5, 7, 6, 8, 9}, false));
    check_derivatives(Case(7, 17, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, true));
}

TEST(newton_logistic_without_rows_or_models) {
    check_derivatives(Case(0, 2, {1}, false));
    check_derivatives(Case(5, 2, {}, false));
}

// The exponential of a margin that far would not be a number.
TEST(newton_logistic_margins_beyond_single_precision) {
    const float x = 1, coefficients[] = {-1e30f, 1e30f};
    const std::int8_t signs[] = {1, 1};
    const double weight = 3;
    const std::int64_t chosen[] = {0, 1};
    double gradients[2], curvatures[2];
    Uninterrupted interruption;
    const LogisticProblems data{signs, &weight, false, 1, 2};
    const LinearModels models{&x, 1, chosen, coefficients, 2};
    logistic_gradients(data, models, gradients, interruption);
    logistic_hessians(data, models, curvatures, interruption);
    CHECK(gradients[0] == -3);
    CHECK(std::abs(gradients[1]) < 1e-30);
    CHECK(curvatures[0] >= 0 && curvatures[0] < 1e-30);
    CHECK(curvatures[1] >= 0 && curvatures[1] < 1e-30);
}
