#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "core/bins.hpp"
#include "core/forest.hpp"
#include "core/sample.hpp"
#include "core/targets.hpp"
#include "core/tree.hpp"

using namespace prefero;

namespace {

// Rankings that turn around half way along the only feature.
TrainingData turning(CriterionKind criterion, std::size_t rows, std::size_t labels) {
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks;
    for (std::size_t r = 0; r < rows; ++r) {
        bins.push_back(static_cast<std::uint8_t>(r * 200 / rows));
        for (std::size_t k = 0; k < labels; ++k)
            ranks.push_back(static_cast<double>(r < rows / 2 ? k + 1 : labels - k));
    }
    const bool numeric = false;
    return TrainingData::rankings(criterion, {bins.data(), rows, 1}, &numeric,
                                  {ranks.data(), rows, labels}, nullptr);
}

// Rankings that follow one of two features, and not quite.
struct TrainingSetup {
    std::size_t labels;
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks, weights;

    TrainingSetup(std::size_t rows, std::size_t c) : labels(c), weights(rows, 1.0) {
        Random random(5);
        for (std::size_t r = 0; r < rows; ++r) {
            const std::uint32_t place = random.below(200), noise = random.below(10);
            bins.push_back(static_cast<std::uint8_t>(place));
            bins.push_back(static_cast<std::uint8_t>(random.below(200)));
            for (std::size_t k = 0; k < c; ++k)
                ranks.push_back(static_cast<double>((place < 90) == (noise > 0) ? k + 1 : c - k));
        }
    }

    void repeat_last(double weight) {
        for (int i = 0; i < 2; ++i) bins.push_back(bins[bins.size() - 2]);
        for (std::size_t k = 0; k < labels; ++k) ranks.push_back(ranks[ranks.size() - labels]);
        weights.push_back(weight);
    }

    TrainingData data(CriterionKind kind) const {
        const bool numeric[] = {false, false};
        return TrainingData::rankings(kind, {bins.data(), weights.size(), 2}, numeric,
                                      {ranks.data(), weights.size(), labels}, weights.data());
    }
};

const Stopping kFull{100, 2, 1, 0, 0, 0, false};

Tree grow(const TrainingData& data, bool bootstrap, std::uint64_t seed) {
    const Search search{1, data.features(), false, false};
    return grow_trees(data, {bootstrap, search, kFull}, &seed, 1, to_the_end)[0];
}

const CriterionKind kAll[] = {CriterionKind::kKendall, CriterionKind::kSpearman,
                              CriterionKind::kMallows, CriterionKind::kEntropy};

}  // namespace

// A network that sorts every row of zeros and ones sorts everything.
TEST(eight_words_are_sorted) {
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        std::int16_t words[kSimdWidth], sorted[kSimdWidth];
        for (std::size_t i = 0; i < kSimdWidth; ++i)
            words[i] = (pattern >> i) & 1 ? std::int16_t{5} : std::int16_t{-5};
        std::uint64_t halves[2];
        std::memcpy(halves, words, sizeof halves);
        sort_eight(halves, sorted);
        std::sort(words, words + kSimdWidth);
        CHECK(std::equal(words, words + kSimdWidth, sorted));
    }
}

TEST(every_criterion_finds_the_turning_point) {
    for (CriterionKind kind : kAll)
        for (std::size_t labels : {2u, 5u, 12u, 70u}) {
            const Tree tree = grow(turning(kind, 40, labels), false, 1);
            CHECK(tree.nodes.size() == 3);
            CHECK(tree.nodes[0].cut >= 95 && tree.nodes[0].cut < 100);
            CHECK(check::near(tree.scores[0], -tree.scores[labels], 1e-6));
        }
}

// Floats count to 2^24: here the rows on the right would be lost in the sum of the left one.
TEST(sums_go_on_beyond_the_whole_numbers_of_floats) {
    const std::uint8_t bins[] = {0, 1, 1, 1};
    const double ranks[] = {1, 2, 3, 3, 2, 1, 3, 2, 1, 3, 2, 1};
    const double heavy = 1 << 24, w = heavy + 3, weights[] = {heavy, 1, 1, 1};
    for (bool categorical : {false, true})
        for (CriterionKind kind : kAll) {
            const TrainingData data =
                TrainingData::rankings(kind, {bins, 4, 1}, &categorical, {ranks, 4, 3}, weights);
            const Tree tree = grow(data, false, 1);
            CHECK(tree.nodes.size() == 3);
            CHECK(tree.weight[0] == w);
            CHECK(std::max(tree.weight[1], tree.weight[2]) == heavy);
            CHECK(tree.decrease[0] > 0 && std::isfinite(tree.decrease[0]));
            if (kind == CriterionKind::kKendall || kind == CriterionKind::kSpearman)
                CHECK(check::near(tree.decrease[0], 4 * heavy * 3 / w, 1e-5));
        }
}

TEST(the_mean_of_a_large_leaf_knows_every_row) {
    std::vector<float> numbers{0};
    std::vector<double> weights{1 << 24};
    numbers.resize(1 + 1024, 1);
    weights.resize(numbers.size(), 1);
    const std::vector<std::uint8_t> bins(numbers.size(), 0);
    const Tree tree =
        grow(TrainingData::numbers({bins.data(), bins.size(), 1}, numbers.data(), weights.data()),
             false, 1);
    CHECK(tree.weight[0] == (1 << 24) + 1024);
    CHECK(check::near(tree.scores[0], 1024.0 / ((1 << 24) + 1024), 1e-9));
}

// A row that weighs next to nothing, equal to another, sends all through the sums in doubles.
TEST(sums_in_doubles_and_in_floats_make_the_same_split) {
    for (CriterionKind kind : kAll)
        for (std::size_t labels : {2u, 5u, 12u}) {
            TrainingSetup setup(300, labels);
            const Node plain = grow(setup.data(kind), false, 1).nodes[0];
            const double decrease = grow(setup.data(kind), false, 1).decrease[0];
            setup.repeat_last(1e-9);
            const Tree large = grow(setup.data(kind), false, 1);
            CHECK(plain.feature == large.nodes[0].feature && plain.cut == large.nodes[0].cut);
            CHECK(check::near(decrease, large.decrease[0], 1e-4 * decrease));
        }
}

TEST(the_same_seed_grows_the_same_tree) {
    const TrainingData data = turning(CriterionKind::kKendall, 60, 4);
    const Tree first = grow(data, true, 7), second = grow(data, true, 7);
    CHECK(first.scores == second.scores);
    CHECK(first.weight == second.weight);
    CHECK(first.weight[0] == 60);
}

TEST(numbers_are_split_by_their_variance) {
    const std::uint8_t bins[] = {0, 1, 2, 3, 4};
    const float numbers[] = {1, 1, 5, 9, 7};
    const double weights[] = {2, 1, 1, 1, 0};
    Tree tree = grow(TrainingData::numbers({bins, 5, 1}, numbers, weights), false, 1);
    CHECK(tree.weight[0] == 5);  // the last row has none
    CHECK(tree.nodes[0].cut == 1);
    // Of the sum of squares around 17/5, 51.2, there remain 8 in the right child.
    CHECK(check::near(tree.decrease[0], 51.2 - 8, 1e-4));
    std::sort(tree.scores.begin(), tree.scores.end());
    CHECK(tree.scores == (std::vector<float>{1, 5, 9}));
}

TEST(values_fall_into_bins_by_edges) {
    const double edges[] = {1, 2, 2.5};
    const std::int64_t starts[] = {0, 3, 3};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double values[] = {0, 7, 1, 7, 1.5, nan, 9, -1, nan, 0};
    std::uint8_t bins[10];
    bin_values({values, 5, 2, 1}, {edges, starts, 2}, bins);
    const std::uint8_t expected[] = {0, 0, 0, 0, 1, kMissingBin, 3, 0, kMissingBin, 0};
    for (int i = 0; i < 10; ++i) CHECK(bins[i] == expected[i]);
}

TEST(edges_lie_between_neighbouring_values) {
    const double step = std::numeric_limits<double>::epsilon();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    // The middle of the last two is rounded to the larger.
    std::vector<double> values{3, 1 + step, nan, -2, 1 + 2 * step, 3};
    CHECK(numeric_edges(values, 255) == (std::vector<double>{-0.5 + step / 2, 1 + step, 2}));
    for (const std::size_t rows : {100u, 5000u}) {  // sorted in two ways
        std::vector<double> many;
        for (std::size_t i = 0; i < rows; ++i)
            many.push_back(static_cast<double>(i * 37 % rows) - 50);
        std::vector<double> few = many;
        CHECK(numeric_edges(many, rows + 1).size() == rows - 1);
        const auto edge = [&](std::size_t part) {
            return static_cast<double>(rows / 4 * part) - 50.5;
        };
        CHECK(numeric_edges(few, 4) == (std::vector<double>{edge(1), edge(2), edge(3)}));
    }
}

TEST(equal_orders_have_equal_numbers) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double ranks[] = {1, 2, nan, 1, 3, nan, 1, 2, 3, 2, 1, nan};
    std::int32_t ids[4];
    CHECK(write_ids({ranks, 4, 3}, ids) == std::vector<std::size_t>({0, 2, 3}));
    CHECK(ids[0] == 0 && ids[1] == 0 && ids[2] == 1 && ids[3] == 2);
    std::vector<double> many;  // more labels than have their positions in one word
    for (double turned : {0.0, 1.0, 0.0})
        for (double rank = 1; rank <= 17; ++rank) many.push_back(turned > 0 ? 18 - rank : rank);
    CHECK(write_ids({many.data(), 3, 17}, ids) == std::vector<std::size_t>({0, 1}));
    CHECK(ids[0] == 0 && ids[1] == 1 && ids[2] == 0);
}

TEST(rows_that_share_a_ranking_say_what_they_say_alone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double kinds[] = {1, 2, 3, 3, 1, 2, 1, 1, 3, nan, 2, 1};
    std::vector<double> ranks;
    for (std::size_t r = 0; r < 60; ++r)
        for (std::size_t k = 0; k < 3; ++k) ranks.push_back(kinds[r * r % 4 * 3 + k]);
    const std::vector<std::uint8_t> bins(60);
    const bool numeric = false;
    for (CriterionKind kind : {CriterionKind::kKendall, CriterionKind::kSpearman}) {
        const TrainingData all = TrainingData::rankings(kind, {bins.data(), 60, 1}, &numeric,
                                                        {ranks.data(), 60, 3}, nullptr);
        for (std::size_t r = 0; r < 60; ++r) {
            const TrainingData one = TrainingData::rankings(kind, {bins.data(), 1, 1}, &numeric,
                                                            {ranks.data() + 3 * r, 1, 3}, nullptr);
            CHECK(std::memcmp(all.simd_row(r), one.simd_row(0), all.width() * sizeof(Block)) == 0);
            CHECK(std::equal(all.votes(r), all.votes(r) + 3, one.votes(0)));
            if (one.any_unknown())
                CHECK(std::equal(all.comparisons(r), all.comparisons(r) + 3, one.comparisons(0)));
        }
    }
}

// Best first, rows stay where they are; depth first, those of a node are gathered on the way down.
TEST(gathered_rows_grow_the_same_tree) {
    const TrainingSetup setup(30000, 7);
    const BinMatrix bins{setup.bins.data(), 30000, 2};
    for (CriterionKind kind : kAll) {
        const TrainingData data = setup.data(kind);
        std::vector<double> scores[2];
        for (std::size_t max_leaves : {std::size_t{0}, std::size_t{1} << 20}) {
            const Stopping stopping{100, 2, 1, max_leaves, 0, 0, false};
            const std::uint64_t seed = 3;
            const Tree tree =
                grow_trees(data, {true, {2, 2, false, false}, stopping}, &seed, 1, to_the_end)[0];
            CHECK(tree.nodes.size() > 1000);
            std::vector<double>& own = scores[max_leaves > 0];
            own.resize(30000 * 7);
            add_tree_scores(tree, 7, bins, own.data(), to_the_end);
        }
        CHECK(scores[0] == scores[1]);
    }
}

TEST(spread_pairs_meet_every_label_equally) {
    std::vector<int> met(500);
    for (const LabelPair& pair : sign_pairs(500)) {
        ++met[pair.first];
        ++met[pair.second];
    }
    for (int count : met) CHECK(count == met[0] && count > 0);
    CHECK(sign_pairs(10).size() == 45);
}

TEST(contradicting_arrays_are_refused) {
    const Tree tree = grow(turning(CriterionKind::kKendall, 40, 3), false, 1);
    const std::int64_t nodes[] = {0, 3}, values[] = {0, 2}, sets[] = {0, 0};
    std::vector<Node> changed = tree.nodes;
    const Forest forest{1,       3,
                        nodes,   values,
                        sets,    changed.data(),
                        nullptr, nullptr,
                        nullptr, tree.scores.data(),
                        nullptr};
    CHECK(valid(forest, 1, 0));
    CHECK(!valid(forest, 0, 0));
    changed[0].child = 0;
    CHECK(!valid(forest, 1, 0));
    changed[0].child = 2;
    CHECK(!valid(forest, 1, 0));
    changed[0] = tree.nodes[0];
    changed[1].child = 2;
    CHECK(!valid(forest, 1, 0));
    changed[1] = tree.nodes[1];
    changed[0].flags = kCategories;
    CHECK(!valid(forest, 1, 0));
}

// Of memory that ends with the last bin, so that a sanitizer sees a step beyond it.
TEST(rows_walk_together_as_each_walks_alone) {
    const TrainingSetup setup(700, 3);
    const Tree tree = grow(setup.data(CriterionKind::kKendall), false, 1);
    const std::int64_t nodes[] = {0, static_cast<std::int64_t>(tree.nodes.size())};
    const std::int64_t values[] = {0, static_cast<std::int64_t>(tree.scores.size() / 3)};
    const std::int64_t sets[] = {0, 0};
    Forest alone{1,       3,
                 nodes,   values,
                 sets,    tree.nodes.data(),
                 nullptr, nullptr,
                 nullptr, tree.scores.data(),
                 nullptr};
    const Paths paths = make_paths(alone, 2), few = make_paths(alone, 300);
    CHECK(paths.steps.size() == tree.nodes.size());
    CHECK(make_paths(alone, std::size_t{1} << 24).steps.empty());  // no room for the way
    for (const std::size_t rows : {1u, 2u, 63u, 64u, 65u, 200u, 700u})
        for (const Paths* own : {&paths, &few}) {
            const std::vector<std::uint8_t> bins(setup.bins.begin(), setup.bins.begin() + 2 * rows);
            std::vector<std::int32_t> wanted(rows), found(rows);
            Forest together = alone;
            together.paths = own;
            apply(alone, {bins.data(), rows, 2}, wanted.data(), to_the_end);
            apply(together, {bins.data(), rows, 2}, found.data(), to_the_end);
            CHECK(found == wanted);
        }
}
