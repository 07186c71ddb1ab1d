#include "core/positions.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "core/permutations.hpp"

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

// Of two labels the one behind has one more before it.
void ranks_by_counting(const double* scores, std::size_t labels, std::int64_t* ranks) {
    std::fill_n(ranks, labels, std::int64_t{1});
    for (std::size_t i = 1; i < labels; ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const bool behind = scores[j] >= scores[i];
            ranks[i] += behind;
            ranks[j] += !behind;
        }
}

}  // namespace

void bucket_positions(RankMatrix ranks, Bucket bucket, double* positions) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        double* out = positions + i * ranks.labels;
        if (is_permutation(ranks.row(i), ranks.labels))
            std::copy_n(ranks.row(i), ranks.labels, out);
        else if (ranks.labels <= kCountingLimit)
            positions_by_counting(ranks.row(i), ranks.labels, bucket, out);
        else
            positions_by_sorting(ranks.row(i), ranks.labels, bucket, order, out);
    }
}

bool have_ties(RankMatrix ranks) {
    std::vector<double> sorted;
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        const double *own = ranks.row(i), *end = own + ranks.labels;
        if (is_permutation(own, ranks.labels)) continue;
        sorted.clear();
        std::copy_if(own, end, std::back_inserter(sorted), [](double rank) { return known(rank); });
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return true;
    }
    return false;
}

std::size_t row_wins(const double* row, std::size_t labels, double* wins) {
    bucket_positions({row, 1, labels}, Bucket::kMean, wins);
    const auto present = std::count_if(row, row + labels, known);
    for (std::size_t k = 0; k < labels; ++k)
        wins[k] = known(row[k]) ? static_cast<double>(present) + 1 - 2 * wins[k] : 0;
    return static_cast<std::size_t>(present);
}

void row_votes(RankMatrix ranks, double* votes, double* comparisons) {
    const auto others = static_cast<double>(std::max<std::size_t>(ranks.labels, 2) - 1);
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        const double* own = ranks.row(i);
        const auto present = static_cast<double>(row_wins(own, ranks.labels, votes));
        for (std::size_t k = 0; k < ranks.labels; ++k, ++votes, ++comparisons) {
            *votes /= others;
            *comparisons = (known(own[k]) ? present - 1 : 0) / others;
        }
    }
}

void strict_ranks(const double* scores, std::size_t rows, std::size_t labels, std::int64_t* ranks) {
    if (labels <= kCountingLimit) {
        for (std::size_t i = 0; i < rows; ++i)
            ranks_by_counting(scores + i * labels, labels, ranks + i * labels);
        return;
    }
    std::vector<std::size_t> order(labels);
    for (std::size_t i = 0; i < rows; ++i, scores += labels, ranks += labels) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [scores](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
        for (std::size_t k = 0; k < labels; ++k) ranks[order[k]] = static_cast<std::int64_t>(k + 1);
    }
}

}  // namespace prefero
