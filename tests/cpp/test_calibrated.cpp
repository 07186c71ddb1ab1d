#include <limits>
#include <vector>

#include "check.hpp"
#include "core/calibrated.hpp"

using namespace prefero;

namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Means {
    std::vector<double> offset, side;
};

Means means(const std::vector<double>& offsets, std::size_t labels,
            const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& rows,
            const std::vector<double>& weights) {
    const std::size_t count = starts.size() - 1;
    Means result{std::vector<double>(count * labels), std::vector<double>(count * labels)};
    mean_offsets({offsets.data(), offsets.size() / labels, labels},
                 {starts.data(), rows.data(), weights.data(), count}, result.offset.data(),
                 result.side.data(), to_the_end);
    return result;
}

}  // namespace

TEST(offsets_and_sides_are_averaged_by_weight) {
    const Means found = means({-0.5, 1.5, 2.5, -1.5}, 2, {0, 2}, {0, 1}, {3, 1});
    CHECK(check::near(found.offset[0], (3 * -0.5 + 2.5) / 4));
    CHECK(check::near(found.side[0], (-3.0 + 1.0) / 4));
    CHECK(check::near(found.offset[1], (3 * 1.5 - 1.5) / 4));
    CHECK(check::near(found.side[1], 0.5));
}

TEST(a_row_that_does_not_know_a_label_has_no_say_in_it) {
    const Means found = means({kUnknown, -0.5, 2.5, -1.5}, 2, {0, 2}, {0, 1}, {5, 1});
    CHECK(check::near(found.offset[0], 2.5));
    CHECK(check::near(found.side[0], 1.0));
}

TEST(nobody_knows_gives_no_mean) {
    const Means found = means({kUnknown, 0.5}, 1, {0, 1, 2, 2}, {0, 1}, {1, 0});
    for (double value : found.offset) CHECK(!known(value));
    for (double value : found.side) CHECK(!known(value));
}
