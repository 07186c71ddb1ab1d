#include <cmath>
#include <vector>

#include "check.hpp"
#include "core/exponential.hpp"

using namespace prefero;

TEST(exponentials_are_those_of_the_library) {
    std::vector<double> values;
    for (int k = -7000; k <= 7000; k += 3) values.push_back(k / 10.0 + k / 1e4);
    std::vector<double> found = values;
    exponentiate(found.data(), found.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        CHECK(std::abs(found[k] / std::exp(values[k]) - 1) < 1e-15);
}

TEST(exponentials_in_single_precision) {
    CHECK(short_exponential(0) == 1);
    for (int k = -8000; k <= 8000; ++k) {
        const float value = static_cast<float>(k) / 100;
        const double away =
            std::abs(double{short_exponential(value)} / std::exp(double{value}) - 1);
        CHECK(away < (std::abs(value) < 1 ? 2.5e-7 : 1e-5));
    }
}

TEST(exponentials_of_zero_and_of_no_values) {
    double zero = 0;
    exponentiate(&zero, 1);
    CHECK(zero == 1);
    exponentiate(nullptr, 0);
}

TEST(logarithms_are_those_of_the_library) {
    std::vector<double> values{1, 1 + 1e-15, 1 - 1e-15, 0.5, 2, 1e-10, 1e300, 1e-300};
    for (int k = -3000; k <= 3000; ++k) values.push_back(std::exp(k / 10.0 + k / 1e4));
    std::vector<double> found = values;
    take_logarithms(found.data(), found.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double expected = std::log(values[k]);
        CHECK(std::abs(found[k] - expected) <= 4e-16 * std::abs(expected));
    }
    take_logarithms(nullptr, 0);
}

TEST(the_logarithm_of_a_product_is_the_sum_of_logarithms) {
    std::vector<double> factors;
    double expected = 0;
    for (int k = 0; k < 103; ++k) {
        factors.push_back(std::exp(k * 1.6));
        expected += k * 1.6;
    }
    const double found = log_product(factors.data(), factors.size(), 165);
    CHECK(check::near(found / expected, 1));
    CHECK(log_product(factors.data(), 0, 165) == 0);
}
