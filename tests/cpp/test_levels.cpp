#include <vector>

#include "check.hpp"
#include "core/levels.hpp"

using namespace prefero;

namespace {

constexpr std::size_t kWidth = kLevelVector + 1;

// A histogram with one number a row, +1 or -1.
struct Histogram {
    std::vector<double> sums = std::vector<double>(kBins * kWidth);

    void add(std::size_t bin, double number) {
        double* own = sums.data() + bin * kWidth;
        own[kLevelWeight] += 1;
        own[kLevelExamples] += 1;
        own[kLevelLength] += 1;
        own[kLevelVector] += number;
    }
};

}  // namespace

TEST(missing_values_go_with_the_small_ones_where_they_are_alike) {
    Histogram bins;
    for (const std::size_t bin : {std::size_t{0}, kMissingBin}) bins.add(bin, 1);
    for (const std::size_t bin : {1, 2}) bins.add(bin, -1);
    std::vector<double> left(kWidth);
    const LevelCut found = best_level_cut(bins.sums.data(), kWidth, 1, left.data());
    CHECK(found.varies && found.cut.missing_seen && found.cut.missing_left);
    CHECK(found.cut.left == 0 && found.cut.right == 1);
    CHECK(left[kLevelExamples] == 2 && left[kLevelVector] == 2);
}

TEST(a_level_has_no_cut_that_leaves_too_few_examples) {
    Histogram bins;
    bins.add(0, 1);
    for (const std::size_t bin : {1, 2, 3}) bins.add(bin, -1);
    std::vector<double> left(kWidth);
    CHECK(best_level_cut(bins.sums.data(), kWidth, 1, left.data()).cut.left == 0);
    CHECK(best_level_cut(bins.sums.data(), kWidth, 2, left.data()).cut.left == 1);
}
