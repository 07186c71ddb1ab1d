#include "core/margins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/wide.hpp"

namespace prefero {

namespace {

constexpr std::size_t kAtOnce = 64;  // pairs whose groups are looked up side by side

// The group of each size, by halving the ends that are left; they are padded to a power of two.
PREFERO_WIDE void find_groups(const std::vector<double>& ends, const double* sizes,
                              std::uint32_t* groups) {
    const double* end = ends.data();
    std::fill_n(groups, kAtOnce, 0u);
    for (auto half = static_cast<std::uint32_t>(ends.size() / 2); half > 0; half /= 2)
        for (std::size_t i = 0; i < kAtOnce; ++i)
            groups[i] += end[groups[i] + half - 1] < sizes[i] ? half : 0;
}

}  // namespace

void score_margins(const double* scores, std::size_t rows, std::size_t labels,
                   const LabelPairs& pairs, double* margins) {
    for (std::size_t row = 0; row < rows; ++row, scores += labels)
        for (std::size_t p = 0; p < pairs.count; ++p)
            *margins++ = scores[pairs.first[p]] - scores[pairs.second[p]];
}

void pair_outcomes(RankMatrix ranks, const LabelPairs& pairs, double* outcomes) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t row = 0; row < ranks.rows; ++row) {
        const double* own = ranks.row(row);
        for (std::size_t p = 0; p < pairs.count; ++p) {
            const double one = own[pairs.first[p]], other = own[pairs.second[p]];
            const double outcome = 0.5 + 0.5 * preference(one, other);
            *outcomes++ = known(one) && known(other) ? outcome : kUnknown;
        }
    }
}

void sum_groups(const ScoredPairs& pairs, const double* ends, std::size_t groups, GroupSums* sums) {
    std::size_t room = 1;
    while (room < groups) room *= 2;
    std::vector<double> padded(ends, ends + groups);
    padded.resize(room, std::numeric_limits<double>::infinity());
    const std::size_t count = pairs.rows * pairs.pairs;
    for (std::size_t begin = 0, row = 0, pair = 0; begin < count; begin += kAtOnce) {
        const std::size_t some = std::min(kAtOnce, count - begin);
        double sizes[kAtOnce] = {}, ahead[kAtOnce];
        std::uint32_t group[kAtOnce];
        for (std::size_t i = 0; i < some; ++i) {  // side by side: which label is ahead is chance
            const double margin = pairs.margins[begin + i], outcome = pairs.outcomes[begin + i];
            sizes[i] = std::fabs(margin);
            ahead[i] = margin < 0 ? 1 - outcome : outcome;
        }
        find_groups(padded, sizes, group);
        for (std::size_t i = 0; i < some; ++i) {
            const double margin = pairs.margins[begin + i], outcome = pairs.outcomes[begin + i];
            const double weight = pairs.weights[row];
            if (++pair == pairs.pairs) {
                pair = 0;
                ++row;
            }
            if (!known(margin) || !known(outcome)) continue;
            GroupSums& own = sums[std::min<std::size_t>(group[i], groups - 1)];
            own.weight += weight;
            own.size += weight * sizes[i];
            own.ahead += weight * ahead[i];
            own.tied += weight * (outcome == 0.5);
        }
    }
}

}  // namespace prefero
