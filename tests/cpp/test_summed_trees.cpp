#include <vector>

#include "check.hpp"
#include "core/summed_cuts.hpp"

using namespace prefero;

namespace {

constexpr std::size_t kWidth = SummedSpread::kVector + 1;

// A histogram with one number per row, +1 or -1.
struct Histogram {
    std::vector<double> sums = std::vector<double>(kBins * kWidth);

    void add(std::size_t bin, double number) {
        double* own = sums.data() + bin * kWidth;
        own[kWeightSum] += 1;
        own[kExampleSum] += 1;
        own[SummedSpread::kLength] += 1;
        own[SummedSpread::kVector] += number;
    }
};

const SummedSpread kSpread{kWidth, {1, 0}, false};

SummedCut best(const Histogram& bins, double min_leaf, std::vector<double>& left) {
    return best_summed_cut(kSpread, bins.sums.data(), false, {min_leaf, true}, left.data());
}

}  // namespace

TEST(missing_values_go_with_the_small_ones_where_they_are_alike) {
    Histogram bins;
    for (const std::size_t bin : {std::size_t{0}, kMissingBin}) bins.add(bin, 1);
    for (const std::size_t bin : {1, 2}) bins.add(bin, -1);
    std::vector<double> left(kWidth);
    const SummedCut found = best(bins, 1, left);
    CHECK(found.varies && found.cut.missing_seen && found.cut.missing_left);
    CHECK(found.cut.left == 0 && found.cut.right == 1);
    CHECK(left[kExampleSum] == 2 && left[SummedSpread::kVector] == 2);
}

TEST(a_node_has_no_cut_that_leaves_too_few_examples) {
    Histogram bins;
    bins.add(0, 1);
    for (const std::size_t bin : {1, 2, 3}) bins.add(bin, -1);
    std::vector<double> left(kWidth);
    CHECK(best(bins, 1, left).cut.left == 0);
    CHECK(best(bins, 2, left).cut.left == 1);
}

TEST(categories_are_ordered_by_their_means) {
    const double means[4][2] = {{0.0, 0.5}, {3.0, 3.2}, {-2.0, -1.9}, {1.0, 1.1}};
    const double weights[4] = {2, 1, 3, 1};
    std::vector<double> sums;
    for (std::size_t k = 0; k < 4; ++k)
        for (const double value : {1.0, means[k][0], means[k][1]})
            sums.push_back(weights[k] * value);
    const std::vector<std::size_t> order = order_of_categories(sums.data(), 4, 3, 1, 3);
    const std::vector<std::size_t> up{2, 0, 3, 1}, down{1, 3, 0, 2};
    CHECK(order == up || order == down);
}

TEST(the_rules_of_floats_and_doubles_agree) {
    const NewtonRules<float> rounded;
    const NewtonRules<double> exact;
    CHECK(rounded.better(1.001f, 1.0f) && exact.better(1.001, 1.0));
    CHECK(!rounded.better(1.000001f, 1.0f) && !exact.better(1.000001, 1.0));
    CHECK(rounded.accepts(0.1f, 0.0f) && !rounded.accepts(0.0f, 0.0f) && !exact.accepts(0.0, 0.0));
    CHECK(signs_agree(3.0f, 3.0f) && !signs_agree(1.0f, 3.0f) && signs_agree(3.0, 3.0));
    CHECK(vectors_agree(4.0, 2.0, 2.0) && !vectors_agree(0.0f, 2.0f, 2.0f));
}
