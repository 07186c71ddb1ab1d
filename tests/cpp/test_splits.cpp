// Which rows a split sends where: missing values, categories, and children that are too small.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "core/forest.hpp"
#include "core/sample.hpp"
#include "core/tree.hpp"

using namespace prefero;

namespace {

const CriterionKind kAll[] = {CriterionKind::kKendall, CriterionKind::kSpearman,
                              CriterionKind::kMallows, CriterionKind::kEntropy};

// Rows of one feature that say one of two opposite orders of three labels.
struct Rows {
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks;

    void add(std::size_t bin, bool turned) {
        bins.push_back(static_cast<std::uint8_t>(bin));
        for (double rank : {1.0, 2.0, 3.0}) ranks.push_back(turned ? 4 - rank : rank);
    }

    Tree grow(CriterionKind kind, bool categorical, std::size_t min_leaf, bool sets = false) const {
        const TrainingData data =
            TrainingData::rankings(kind, {bins.data(), bins.size(), 1}, &categorical,
                                   {ranks.data(), bins.size(), 3}, nullptr);
        const std::uint64_t seed = 1;
        const Stopping stopping{100, 2, min_leaf, 0, 0, 0, false};
        return grow_trees(data, {false, {1, 1, false, sets}, stopping}, &seed, 1, to_the_end)[0];
    }
};

// A third each of low, high and missing values; those missing speak like one of the others.
Rows with_missing(std::size_t third, bool like_low) {
    Rows rows;
    for (std::size_t i = 0; i < third; ++i) {
        rows.add(i * 90 / third, false);
        rows.add(110 + i * 90 / third, true);
        rows.add(kMissingBin, !like_low);
    }
    return rows;
}

double smallest_leaf(const Tree& tree) {
    double least = tree.weight[0];
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
        if (tree.nodes[i].flags & kLeaf) least = std::min(least, tree.weight[i]);
    return least;
}

}  // namespace

// Nodes of up to 8, up to 255 and of more rows are scanned in ways of their own, and all of them
// row by row if children have a least size.
TEST(missing_values_go_with_those_that_speak_like_them) {
    for (CriterionKind kind : kAll)
        for (std::size_t third : {2u, 30u, 85u, 86u, 300u})
            for (std::size_t min_leaf : {1u, 2u})
                for (bool like_low : {true, false}) {
                    const Tree tree = with_missing(third, like_low).grow(kind, false, min_leaf);
                    CHECK(tree.nodes.size() == 3);
                    CHECK(tree.nodes[0].cut >= 45 && tree.nodes[0].cut < 110);
                    CHECK(bool(tree.nodes[0].flags & kMissingLeft) == like_low);
                    CHECK(tree.weight[1] == static_cast<double>(like_low ? 2 * third : third));
                }
}

TEST(missing_values_may_go_alone) {
    for (CriterionKind kind : kAll)
        for (std::size_t half : {3u, 40u, 200u})
            for (std::size_t min_leaf : {1u, 2u}) {
                Rows rows;
                for (std::size_t i = 0; i < half; ++i) {
                    rows.add(i % 50, false);
                    rows.add(kMissingBin, true);
                }
                const Tree tree = rows.grow(kind, false, min_leaf);
                CHECK(tree.nodes.size() == 3);
                CHECK(tree.nodes[0].cut >= std::min<std::size_t>(half - 1, 49));
                CHECK(!(tree.nodes[0].flags & kMissingLeft));
            }
}

// Both children reach their least size only with the missing values.
TEST(missing_values_count_for_the_least_size_of_a_child) {
    for (CriterionKind kind : kAll)
        for (bool like_low : {true, false}) {
            Rows rows;
            for (std::size_t i = 0; i < 5; ++i) rows.add(like_low ? 150 + i : i, !like_low);
            for (std::size_t i = 0; i < 3; ++i) rows.add(kMissingBin, like_low);
            for (std::size_t i = 0; i < 2; ++i) rows.add(like_low ? i : 150 + i, like_low);
            const Tree tree = rows.grow(kind, false, 5);
            CHECK(tree.nodes.size() == 3);
            CHECK(smallest_leaf(tree) == 5);
        }
}

// The purest set of categories is too small on one side; another must be found, or none.
TEST(categories_leave_every_child_its_least_size) {
    for (CriterionKind kind : kAll)
        for (bool sets : {false, true})
            for (bool turned : {false, true}) {
                Rows rows;
                rows.add(0, turned);
                for (std::size_t bin : {1u, 2u, 3u})
                    for (std::size_t i = 0; i < 4; ++i)
                        rows.add(bin, i < bin - 1 ? turned : !turned);
                rows.add(4, turned);
                CHECK(smallest_leaf(rows.grow(kind, true, 1, sets)) < 3);
                const Tree tree = rows.grow(kind, true, 3, sets);
                CHECK(tree.nodes.size() > 1);
                CHECK(smallest_leaf(tree) >= 3);
            }
}

// One small category, or a small rest: neither may be split off.
TEST(two_categories_of_which_one_is_small_stay_together) {
    for (CriterionKind kind : kAll)
        for (bool sets : {false, true})
            for (std::size_t small : {0u, 1u}) {
                Rows rows;
                for (std::size_t i = 0; i < 6; ++i) rows.add(1 - small, false);
                for (std::size_t i = 0; i < 2; ++i) rows.add(small, true);
                CHECK(rows.grow(kind, true, 3, sets).nodes.size() == 1);
                CHECK(rows.grow(kind, true, 2, sets).nodes.size() == 3);
            }
}
