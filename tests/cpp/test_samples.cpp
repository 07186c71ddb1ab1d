// Trees do not depend on how the rows of a sample are kept, nor on how few of them a node has.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "core/forest.hpp"
#include "core/joined_trees.hpp"
#include "core/sample.hpp"
#include "core/targets.hpp"

using namespace prefero;

namespace {

// Rankings at random, of which the first feature says a little.
struct RandomRows {
    std::size_t rows, labels, features = 3;
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks;

    RandomRows(std::size_t n, std::size_t c, std::uint32_t different, std::uint64_t seed)
        : rows(n), labels(c) {
        Random random(seed);
        std::vector<double> order(c);
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t f = 0; f < features; ++f)
                bins.push_back(static_cast<std::uint8_t>(random.below(different)));
            for (std::size_t k = 0; k < c; ++k) order[k] = static_cast<double>(k + 1);
            for (std::size_t k = bins[r * features] % 3; k + 1 < c; ++k)
                std::swap(order[k], order[k + random.below(static_cast<std::uint32_t>(c - k))]);
            ranks.insert(ranks.end(), order.begin(), order.end());
        }
    }

    TrainingData data(CriterionKind kind, const double* weights) const {
        const bool numeric[] = {false, false, false};
        return TrainingData::rankings(kind, {bins.data(), rows, features}, numeric,
                                      {ranks.data(), rows, labels}, weights);
    }
};

std::vector<Tree> grow(const TrainingData& data, bool bootstrap, std::size_t max_features,
                       std::size_t max_depth) {
    const std::uint64_t seeds[] = {3, 4};
    const Stopping stopping{max_depth, 2, 1, 0, 0, 0, false};
    return grow_trees(data, {bootstrap, {max_features, data.features(), false, false}, stopping},
                      seeds, 2, to_the_end);
}

bool same(const Tree& a, const Tree& b) {
    const auto equal = [](const Node& x, const Node& y) {
        return x.child == y.child && x.feature == y.feature && x.cut == y.cut && x.flags == y.flags;
    };
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), equal) &&
           a.weight == b.weight && a.decrease == b.decrease && a.scores == b.scores;
}

// The gain of a cut of the first feature after a bin by Kendall, in doubles.
double gain_after(const RandomRows& set, std::uint8_t bin) {
    const std::vector<LabelPair> pairs = sign_pairs(set.labels);
    std::vector<float> signs(set.rows * pairs.size());
    write_signs({set.ranks.data(), set.rows, set.labels}, pairs, signs.data(), pairs.size());
    double gain = 0, left = 0, all = static_cast<double>(set.rows);
    std::vector<double> sums(pairs.size()), part(pairs.size());
    for (std::size_t r = 0; r < set.rows; ++r) {
        const bool here = set.bins[r * set.features] <= bin;
        left += here;
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            sums[k] += signs[r * pairs.size() + k];
            part[k] += here ? signs[r * pairs.size() + k] : 0;
        }
    }
    if (left == 0 || left == all) return -1;
    for (std::size_t k = 0; k < pairs.size(); ++k)
        gain += std::pow(all * part[k] - left * sums[k], 2);
    return gain / (all * left * (all - left));
}

void join_trees(std::size_t announced) {
    JoinedTrees joined(announced, 1);
    Tree leaf, test;
    leaf.nodes = {{0, 0, 0, kLeaf}};
    leaf.weight = {3};
    leaf.decrease = {0};
    leaf.scores = {0.5f};
    test.nodes = {{1, 0, 0, kCategories}, {0, 0, 0, kLeaf}, {1, 0, 0, kLeaf}};
    test.weight = {3, 1, 2};
    test.decrease = {1, 0, 0};
    test.sets = {0, -1, -1};
    test.categories.resize(1);
    test.scores = {0.25f, 0.75f};
    for (const Tree* tree : {&leaf, &leaf, &test, &leaf}) joined.add(*tree);
    CHECK((joined.node_starts == std::vector<std::int64_t>{0, 1, 2, 5, 6}));
    CHECK((joined.value_starts == std::vector<std::int64_t>{0, 1, 2, 4, 5}));
    CHECK((joined.set_starts == std::vector<std::int64_t>{0, 0, 0, 1, 1}));
    CHECK(joined.nodes.size() == 6 && joined.sets.size() == 6 && joined.comparisons.size() == 0);
    std::int32_t* sets = joined.sets.release();
    float* scores = joined.scores.release();
    const std::int32_t all_sets[] = {-1, -1, 0, -1, -1, -1};
    const float all_scores[] = {0.5f, 0.5f, 0.25f, 0.75f, 0.5f};
    CHECK(std::equal(sets, sets + 6, all_sets) && std::equal(scores, scores + 5, all_scores));
    CHECK(joined.comparisons.release() == nullptr && joined.sets.size() == 0);
    std::free(sets);
    std::free(scores);
}

}  // namespace

// The heaviest nodes by Spearman are beyond the sums of shorts, the others below.
TEST(rows_in_shorts_grow_the_trees_of_rows_in_floats) {
    for (CriterionKind kind : {CriterionKind::kKendall, CriterionKind::kSpearman}) {
        const bool kendall = kind == CriterionKind::kKendall;
        for (std::size_t labels : {kendall ? 10u : 12u, kendall ? 13u : 26u}) {
            RandomRows set(kendall ? 8500 : 25000, labels, 250, 7);
            for (std::size_t i = 0; i < set.bins.size(); i += 17) set.bins[i] = kMissingBin;
            const std::vector<double> ones(set.rows, 1.0);
            const TrainingData plain = set.data(kind, nullptr);
            const TrainingData weighted = set.data(kind, ones.data());
            CHECK(Sample::better_in_shorts(plain) && !Sample::better_in_shorts(weighted));
            for (bool bootstrap : {true, false}) {
                const std::vector<Tree> shorts = grow(plain, bootstrap, 2, 9);
                const std::vector<Tree> floats = grow(weighted, bootstrap, 2, 9);
                CHECK(shorts[0].nodes.size() > 150);
                CHECK(same(shorts[0], floats[0]) && same(shorts[1], floats[1]));
            }
        }
    }
}

TEST(few_rows_are_cut_at_the_first_of_the_best_places) {
    std::size_t found = 0;
    for (std::uint64_t trial = 0; trial < 600; ++trial) {
        RandomRows set(2 + trial % 7, 4, 5, trial);
        for (std::size_t r = 0; r < set.rows; ++r)  // only the first feature can be cut
            set.bins[r * 3 + 1] = set.bins[r * 3 + 2] = 0;
        const Tree tree = grow(set.data(CriterionKind::kKendall, nullptr), false, 3, 1)[0];
        std::vector<std::uint8_t> present;
        for (std::size_t r = 0; r < set.rows; ++r) present.push_back(set.bins[r * 3]);
        std::sort(present.begin(), present.end());
        int best = -1;
        double most = 1e-6;
        for (std::uint8_t bin : present)
            if (gain_after(set, bin) > most * (1 + 1e-6)) {
                best = bin;
                most = gain_after(set, bin);
            }
        if (best < 0) {
            CHECK(tree.nodes.size() == 1);
            continue;
        }
        const int right = *std::upper_bound(present.begin(), present.end(), best);
        CHECK(tree.nodes.size() == 3);
        CHECK(tree.nodes[0].cut == (best + right) / 2);
        ++found;
    }
    CHECK(found > 300);
}

TEST(borda_votes_of_complete_rankings_are_whole) {
    const double ranks[] = {2, 1, 4, 3, 1, 1, 3, 4, 1, 2, 2, 2};
    const float expected[] = {1, 3, -3, -1, 2, 2, -1, -3, 3, -1, -1, -1};
    float votes[12];
    write_borda({ranks, 3, 4}, votes, 4);
    for (std::size_t i = 0; i < 12; ++i) CHECK(votes[i] == expected[i]);
}

// More trees come than were announced, or far fewer: their number is no promise.
TEST(joined_trees_stand_one_after_the_other) {
    for (std::size_t announced : {std::size_t{2}, ~std::size_t{0}}) join_trees(announced);
}
