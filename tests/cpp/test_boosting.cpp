#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "core/label_boost.hpp"

using namespace prefero;

namespace {

// Rankings that turn around along the first of two features; every third row is written twice.
struct Rows {
    std::vector<std::uint8_t> bins;
    std::vector<double> ranks, weights;
    std::size_t labels;

    Rows(std::size_t count, std::size_t c) : labels(c) {
        for (std::size_t r = 0; r < count; ++r) {
            bins.push_back(static_cast<std::uint8_t>(r * 7 % 200));
            bins.push_back(static_cast<std::uint8_t>(r % 5));
            weights.push_back(1 + r % 2);
            for (std::size_t k = 0; k < c; ++k)
                ranks.push_back(static_cast<double>(r * 7 % 200 < 90 ? k + 1 : c - k));
        }
    }

    RankedRows view() const {
        return {{bins.data(), weights.size(), 2},
                {ranks.data(), weights.size(), labels},
                weights.data()};
    }
};

double last_loss(const Rows& rows, std::size_t rounds) {
    const bool numeric[] = {false, false};
    const std::vector<double> start(rows.labels);
    const LabelBoosting options{0.3, 1, 0.8, {2, 2, false, false}, {100, 2, 5, 6, 0, 0, false}};
    LabelBooster booster(rows.view(), numeric, rows.view(), start.data(), options);
    Uninterrupted to_the_end;
    double loss = 0;
    for (std::size_t t = 0; t < rounds; ++t) loss = booster.add(t, to_the_end);
    return loss;
}

}  // namespace

TEST(derivatives_of_a_row_add_up_to_nothing) {
    const std::vector<double> ranks{1, 2, 2, std::nan(""), 3}, start{0.5, 0, 1, 2, -1};
    ScoredRanks scored({ranks.data(), 1, 5}, start.data());
    const std::uint32_t row = 0;
    std::vector<float> found(10, 7);
    Uninterrupted to_the_end;
    scored.derivatives(&row, 1, found.data(), 5, 10, to_the_end);
    CHECK(std::fabs(std::accumulate(found.begin(), found.begin() + 5, 0.0f)) < 1e-6f);
    CHECK(found[3] == 0 && found[8] == 0);
    CHECK(found[5] > 0 && found[5] < 0.75f);
}

TEST(every_number_of_blocks_learns) {
    for (std::size_t labels : {2u, 9u, 17u, 30u}) {
        const Rows rows(700, labels);
        const double first = last_loss(rows, 1), last = last_loss(rows, 20);
        CHECK(last < 0.3 * first);
    }
}

TEST(a_row_of_no_pairs_moves_nothing) {
    const Rows rows(40, 1);
    CHECK(last_loss(rows, 3) == 0);
}
