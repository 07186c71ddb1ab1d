#include <algorithm>
#include <vector>

#include "check.hpp"
#include "core/leaf_scores.hpp"
#include "core/sample.hpp"
#include "core/tree.hpp"
#include "core/walk.hpp"

using namespace prefero;

namespace {

// Trees whose tests, leaves and scores are drawn at random, and rows of bins.
struct RandomForest {
    std::size_t features, labels;
    std::vector<std::int64_t> node_starts{0}, value_starts{0}, set_starts{0};
    std::vector<Node> nodes;
    std::vector<float> scores, comparisons;
    Random random{11};

    RandomForest(std::size_t m, std::size_t c, std::size_t trees) : features(m), labels(c) {
        for (std::size_t tree = 0; tree < trees; ++tree)
            add_tree(tree % 3 == 2 ? 1 : 60 * tree + 9);
        for (std::size_t i = 0; i < static_cast<std::size_t>(value_starts.back()) * c; ++i) {
            scores.push_back(static_cast<float>(random.below(1000)) / 7);
            comparisons.push_back(static_cast<float>(random.below(9)) / 8);
        }
    }

    // Leaves become tests one after the other, each time one of the last few: paths differ.
    void add_tree(std::size_t leaves) {
        std::vector<Node> own{{0, 0, 0, kLeaf}};
        std::vector<std::size_t> ends{0};
        while (ends.size() < leaves) {
            const std::size_t few = std::min<std::size_t>(ends.size(), 8);
            const std::size_t chosen =
                ends.size() - 1 - random.below(static_cast<std::uint32_t>(few));
            const std::size_t at = ends[chosen];
            own[at] = {static_cast<std::int32_t>(own.size()), draw(features), 0, 0};
            own[at].cut = static_cast<std::uint8_t>(draw(255));
            ends[chosen] = own.size();
            ends.push_back(own.size() + 1);
            own.resize(own.size() + 2, {0, 0, 0, kLeaf});
        }
        std::int32_t value = 0;
        for (Node& node : own)
            if (node.flags & kLeaf) node.child = value++;
        nodes.insert(nodes.end(), own.begin(), own.end());
        node_starts.push_back(static_cast<std::int64_t>(nodes.size()));
        value_starts.push_back(value_starts.back() + value);
        set_starts.push_back(0);
    }

    std::uint16_t draw(std::size_t bound) {
        return static_cast<std::uint16_t>(random.below(static_cast<std::uint32_t>(bound)));
    }

    std::vector<std::uint8_t> rows(std::size_t count) {
        std::vector<std::uint8_t> bins(count * features);
        for (std::uint8_t& bin : bins) bin = static_cast<std::uint8_t>(draw(255));
        return bins;
    }

    Forest view(const Paths* paths, bool with_comparisons = false) const {
        return {node_starts.size() - 1,
                labels,
                node_starts.data(),
                value_starts.data(),
                set_starts.data(),
                nodes.data(),
                paths,
                nullptr,
                nullptr,
                scores.data(),
                with_comparisons ? comparisons.data() : nullptr};
    }
};

// What predict_scores says, in a few plain lines.
std::vector<double> mean_scores(const RandomForest& forest, const std::vector<std::int32_t>& leaves,
                                bool with_comparisons) {
    const std::size_t trees = forest.node_starts.size() - 1, c = forest.labels;
    std::vector<double> means(leaves.size() / trees * c);
    for (std::size_t i = 0; i < means.size(); ++i) {
        double sum = 0, seen = 0;
        for (std::size_t tree = 0; tree < trees; ++tree) {
            const std::int64_t row = forest.value_starts[tree] + leaves[i / c * trees + tree];
            const std::size_t at = static_cast<std::size_t>(row) * c + i % c;
            const double comparisons = with_comparisons ? forest.comparisons[at] : 1;
            sum += comparisons * forest.scores[at];
            seen += comparisons;
        }
        means[i] = seen > 0 ? sum / seen : sum;
    }
    return means;
}

}  // namespace

TEST(rows_of_every_width_walk_as_each_walks_alone) {
    for (const std::size_t features : {1u, 2u, 4u, 7u, 8u, 9u, 16u, 17u, 24u, 25u, 32u, 33u, 70u}) {
        RandomForest forest(features, 2, 9);
        const Paths paths = make_paths(forest.view(nullptr), features);
        CHECK(valid(forest.view(nullptr), features, 0));
        for (const std::size_t rows : {1u, 63u, 64u, 65u, 200u, 1024u, 1090u}) {
            std::vector<std::uint8_t> bins = forest.rows(rows);
            std::vector<std::int32_t> wanted(9 * rows), found(9 * rows);
            const BinMatrix matrix{bins.data(), rows, features};
            apply(forest.view(nullptr), matrix, wanted.data(), to_the_end);
            apply(forest.view(&paths), matrix, found.data(), to_the_end);
            CHECK(found == wanted);
            bins[rows / 2] = kMissingBin;
            apply(forest.view(nullptr), matrix, wanted.data(), to_the_end);
            apply(forest.view(&paths), matrix, found.data(), to_the_end);
            CHECK(found == wanted);
        }
    }
}

TEST(scores_of_any_number_of_labels_and_trees_are_added_in_their_order) {
    for (const std::size_t labels : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 12u, 15u, 16u, 17u, 40u})
        for (const std::size_t trees : {1u, 2u, 3u, 4u, 5u, 8u, 11u}) {
            RandomForest forest(3, labels, trees);
            const Paths paths = make_paths(forest.view(nullptr), 3);
            const std::size_t rows = 150;
            const std::vector<std::uint8_t> bins = forest.rows(rows);
            const BinMatrix matrix{bins.data(), rows, 3};
            std::vector<std::int32_t> leaves(rows * trees);
            apply(forest.view(nullptr), matrix, leaves.data(), to_the_end);
            for (const bool with_comparisons : {false, true}) {
                std::vector<double> found(rows * labels);
                predict_scores(forest.view(&paths, with_comparisons), matrix, found.data(),
                               to_the_end);
                CHECK(found == mean_scores(forest, leaves, with_comparisons));
            }
        }
}

TEST(rows_left_out_get_the_scores_of_their_trees_alone) {
    for (const std::size_t labels : {2u, 6u, 11u, 20u}) {
        RandomForest forest(5, labels, 6);
        const Paths paths = make_paths(forest.view(nullptr), 5);
        const std::size_t rows = 130;
        const std::vector<std::uint8_t> bins = forest.rows(rows);
        const BinMatrix matrix{bins.data(), rows, 5};
        std::vector<std::uint16_t> counts(6 * rows);
        for (std::uint16_t& count : counts) count = forest.draw(3);
        std::vector<std::int32_t> leaves(6 * rows);
        apply(forest.view(nullptr), matrix, leaves.data(), to_the_end);
        std::vector<double> found(rows * labels);
        std::vector<std::int64_t> trees(rows);
        predict_out_of_bag(forest.view(&paths), matrix, {nullptr, counts.data()}, found.data(),
                           trees.data(), to_the_end);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t k = 0; k < labels; ++k) {
                double sum = 0, seen = 0;
                for (std::size_t tree = 0; tree < 6; ++tree) {
                    if (counts[tree * rows + row] > 0) continue;
                    const std::int64_t leaf = forest.value_starts[tree] + leaves[row * 6 + tree];
                    sum += forest.scores[static_cast<std::size_t>(leaf) * labels + k];
                    ++seen;
                }
                CHECK(found[row * labels + k] == (seen > 0 ? sum / seen : 0));
                CHECK(static_cast<double>(trees[row]) == seen);
            }
    }
}
