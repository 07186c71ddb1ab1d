#include <limits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/correlation.hpp"
#include "core/positions.hpp"
#include "core/sample.hpp"

using namespace prefero;

namespace {
const double kUnknown = std::numeric_limits<double>::quiet_NaN();
}

TEST(a_missing_label_takes_part_in_no_pair) {
    const std::vector<double> first{1, 2, 3, kUnknown}, second{1, 3, 2, 4};
    PairCounter counter(4);
    const PairCounts counts = counter(first.data(), second.data(), 4);
    CHECK(counts.concordant == 2);
    CHECK(counts.discordant == 1);
    CHECK(counts.tied_first + counts.tied_second + counts.tied_both == 0);
}

TEST(ties_are_counted_by_side) {
    const std::vector<double> first{1, 1, 2, 2}, second{1, 1, 1, 2};
    PairCounter counter(4);
    const PairCounts counts = counter(first.data(), second.data(), 4);
    CHECK(counts.concordant == 2);
    CHECK(counts.discordant == 0);
    CHECK(counts.tied_first == 1);
    CHECK(counts.tied_second == 2);
    CHECK(counts.tied_both == 1);
}

TEST(empty_rows_are_legal) {
    PairCounter counter(2);
    const std::vector<double> nothing{kUnknown, kUnknown};
    const PairCounts counts = counter(nothing.data(), nothing.data(), 2);
    CHECK(counts.concordant + counts.discordant + counts.tied_both == 0);
}

TEST(counting_and_sorting_give_the_same_positions) {
    for (std::size_t labels : {5u, 100u}) {
        std::vector<double> ranks(labels), positions(labels);
        for (std::size_t i = 0; i < labels; ++i) ranks[i] = static_cast<double>(i / 2 + 1);
        ranks[0] = kUnknown;
        bucket_positions({ranks.data(), 1, labels}, Bucket::kMean, positions.data());
        CHECK(!known(positions[0]));
        CHECK(check::near(positions[1], 1.0));
        CHECK(check::near(positions[2], 2.5));
        CHECK(check::near(positions[3], 2.5));
        bucket_positions({ranks.data(), 1, labels}, Bucket::kSmallest, positions.data());
        CHECK(check::near(positions[3], 2.0));
    }
}

TEST(orders_of_all_labels_are_compared_pair_by_pair) {
    Random random(7);
    for (std::size_t labels : {1u, 2u, 9u, 48u, 63u, 64u, 70u})
        for (int times = 0; times < 20; ++times) {
            std::vector<double> rows[2];
            for (std::vector<double>& row : rows) {
                for (std::size_t i = 0; i < labels; ++i) row.push_back(static_cast<double>(i + 1));
                for (std::size_t i = labels; i > 1; --i)
                    std::swap(row[i - 1], row[random.below(static_cast<std::uint32_t>(i))]);
            }
            std::int64_t discordant = 0;
            for (std::size_t i = 0; i < labels; ++i)
                for (std::size_t j = 0; j < i; ++j)
                    discordant += (rows[0][i] < rows[0][j]) != (rows[1][i] < rows[1][j]);
            PairCounter counter(labels);
            const PairCounts counts = counter(rows[0].data(), rows[1].data(), labels);
            CHECK(counts.discordant == discordant);
            CHECK(counts.concordant + discordant ==
                  static_cast<std::int64_t>(labels * (labels - 1) / 2));
            CHECK(counts.tied_first + counts.tied_second + counts.tied_both == 0);
        }
}

TEST(equal_scores_go_to_the_lower_index) {
    const std::vector<double> scores{0.5, 2.0, 0.5};
    std::vector<std::int64_t> ranks(3);
    strict_ranks(scores.data(), 1, 3, ranks.data());
    CHECK(ranks[0] == 2 && ranks[1] == 1 && ranks[2] == 3);
}

TEST(ranks_that_are_no_halves_are_compared_all_the_same) {
    const std::vector<double> halves{1, 2.5, 2.5, 4}, others{1.1, 2.3, 2.3, 2.4};
    PairCounter counter(4);
    for (const std::vector<double>& row : {halves, others}) {
        const PairCounts counts = counter(row.data(), halves.data(), 4);
        CHECK(counts.concordant == 5 && counts.discordant == 0 && counts.tied_both == 1);
    }
}
