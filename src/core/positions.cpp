#include "core/positions.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace prefero {

namespace {

// Up to this many labels, counting all pairs without a branch beats sorting.
constexpr std::size_t kCountingLimit = 48;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double position(std::size_t above, std::size_t tied, Bucket bucket) {
    const auto first = static_cast<double>(above + 1);
    return bucket == Bucket::kSmallest ? first : first + static_cast<double>(tied - 1) / 2;
}

void positions_by_counting(const double* ranks, std::size_t labels, Bucket bucket,
                           double* positions) {
    for (std::size_t i = 0; i < labels; ++i) {
        std::size_t above = 0, tied = 0;
        for (std::size_t j = 0; j < labels; ++j) {
            above += ranks[j] < ranks[i];
            tied += ranks[j] == ranks[i];
        }
        positions[i] = known(ranks[i]) ? position(above, tied, bucket) : kUnknown;
    }
}

void positions_by_sorting(const double* ranks, std::size_t labels, Bucket bucket,
                          std::vector<std::size_t>& order, double* positions) {
    order.clear();
    for (std::size_t i = 0; i < labels; ++i) {
        positions[i] = kUnknown;
        if (known(ranks[i])) order.push_back(i);
    }
    std::sort(order.begin(), order.end(),
              [ranks](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && ranks[order[end]] == ranks[order[begin]]) ++end;
        for (std::size_t k = begin; k < end; ++k)
            positions[order[k]] = position(begin, end - begin, bucket);
        begin = end;
    }
}

}  // namespace

void bucket_positions(RankMatrix ranks, Bucket bucket, double* positions) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        double* out = positions + i * ranks.labels;
        if (ranks.labels <= kCountingLimit)
            positions_by_counting(ranks.row(i), ranks.labels, bucket, out);
        else
            positions_by_sorting(ranks.row(i), ranks.labels, bucket, order, out);
    }
}

void strict_ranks(const double* scores, std::size_t rows, std::size_t labels, std::int64_t* ranks) {
    std::vector<std::size_t> order(labels);
    for (std::size_t i = 0; i < rows; ++i, scores += labels, ranks += labels) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [scores](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
        for (std::size_t k = 0; k < labels; ++k) ranks[order[k]] = static_cast<std::int64_t>(k + 1);
    }
}

}  // namespace prefero
