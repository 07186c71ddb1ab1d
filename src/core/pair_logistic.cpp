#include "core/pair_logistic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/exponential.hpp"
#include "core/rank_lanes.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// Scores further than that from the middle of their row are as good as there.
constexpr double kFarthest = 80;

// The derivatives of eight rows' losses, given the exponentials of their scores.
PREFERO_CLONES void differentiate(const Block* ranks, const Block* exps, std::size_t labels,
                                  float pair_weight, Block* first, Block* second) {
    const Eight half = broadcast(0.5f), one = broadcast(1), weight = broadcast(pair_weight);
    for (std::size_t i = 0; i < labels; ++i) store(first[i], broadcast(0));
    for (std::size_t i = 0; i < labels; ++i) store(second[i], broadcast(0));
    for (std::size_t i = 0; i < labels; ++i) {
        const Eight rank = load(ranks[i]), exp = load(exps[i]), seen = known(rank) * weight;
        Eight slope = load(first[i]), bend = load(second[i]);
        for (std::size_t j = i + 1; j < labels; ++j) {
            const Eight other = load(ranks[j]), counts = seen * known(other);
            const Eight probability = exp / (exp + load(exps[j]));
            const Eight wanted = half + half * preferences(rank, other);
            const Eight step = counts * (probability - wanted);
            const Eight turn = counts * probability * (one - probability);
            slope += step;
            bend += turn;
            store(first[j], load(first[j]) - step);
            store(second[j], load(second[j]) + turn);
        }
        store(first[i], slope);
        store(second[i], bend);
    }
}

// The losses of eight rows. With d the lead of a label and s +1, -1 or 0 where it ought to be
// ahead, behind or level, that of a pair is log(1 + exp(-|d|)) + (|d| - s d) / 2.
PREFERO_CLONES void sum_losses(const Block* ranks, const Block* exps, const Block* scores,
                               std::size_t labels, double* losses) {
    constexpr std::size_t kMost = 64;  // factors up to 2 whose product stays small
    const Eight half = broadcast(0.5f), one = broadcast(1);
    Eight product = one;
    std::size_t factors = 0;
    const auto take_logarithm = [&] {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            losses[lane] += std::log(double{product[lane]});
        product = one;
        factors = 0;
    };
    for (std::size_t i = 0; i < labels; ++i) {
        const Eight rank = load(ranks[i]), exp = load(exps[i]), score = load(scores[i]);
        Eight sums = broadcast(0);
        for (std::size_t j = i + 1; j < labels; ++j) {
            const Eight other = load(ranks[j]), away = load(exps[j]),
                        lead = score - load(scores[j]);
            const Eight counts = known(rank) * known(other);
            const Eight ratio =
                where_larger(exp, away, away, exp) / where_larger(exp, away, exp, away);
            product = product * (one + counts * ratio);
            sums += counts * half * (magnitude(lead) - preferences(rank, other) * lead);
            if (++factors == kMost) take_logarithm();
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) losses[lane] += double{sums[lane]};
    }
    take_logarithm();
}

}  // namespace

ScoredRanks::ScoredRanks(RankMatrix ranks, const double* start)
    : rows_(ranks.rows),
      labels_(ranks.labels),
      pair_weight_(1.0f / static_cast<float>(std::max<std::size_t>(ranks.labels, 2) - 1)),
      ranks_(ranks.data, ranks.data + ranks.rows * ranks.labels),
      scores_(ranks.rows * ranks.labels),
      worths_(labels_ * kLanes),
      own_ranks_(labels_),
      exps_(labels_),
      values_(labels_),
      first_(labels_),
      second_(labels_) {
    for (std::size_t r = 0; r < rows_; ++r)
        std::copy_n(start, labels_, scores_.begin() + static_cast<std::ptrdiff_t>(r * labels_));
}

// Reads up to eight rows, the last one again and again if there are fewer.
void ScoredRanks::read(const std::uint32_t* rows, std::size_t count, std::size_t eight) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t row = rows[std::min(eight + lane, count - 1)];
        const double* own = scores_.data() + row * labels_;
        const auto [least, most] = std::minmax_element(own, own + labels_);
        const double middle = (*least + *most) / 2;
        for (std::size_t k = 0; k < labels_; ++k) {
            const double score = std::clamp(own[k] - middle, -kFarthest, kFarthest);
            worths_[k * kLanes + lane] = score;
            values_[k].lane[lane] = static_cast<float>(own[k] - middle);
            own_ranks_[k].lane[lane] = ranks_[row * labels_ + k];
        }
    }
    exponentiate(worths_.data(), worths_.size());
    for (std::size_t k = 0; k < labels_; ++k)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            exps_[k].lane[lane] = static_cast<float>(worths_[k * kLanes + lane]);
}

void ScoredRanks::derivatives(const std::uint32_t* rows, std::size_t count, float* to,
                              std::size_t second, std::size_t stride, Interruption& interruption) {
    for (std::size_t i = 0; i < count; i += kLanes) {
        interruption.spend(kLanes * labels_ + labels_ * labels_);
        read(rows, count, i);
        differentiate(own_ranks_.data(), exps_.data(), labels_, pair_weight_, first_.data(),
                      second_.data());
        for (std::size_t lane = 0; lane < std::min(kLanes, count - i); ++lane) {
            float* own = to + (i + lane) * stride;
            for (std::size_t k = 0; k < labels_; ++k) {
                own[k] = first_[k].lane[lane];
                own[second + k] = second_[k].lane[lane];
            }
        }
    }
}

void ScoredRanks::losses(double* to, Interruption& interruption) {
    std::vector<std::uint32_t> all(rows_);
    std::iota(all.begin(), all.end(), 0u);
    for (std::size_t i = 0; i < rows_; i += kLanes) {
        interruption.spend(kLanes * labels_ + labels_ * labels_);
        read(all.data(), rows_, i);
        double sums[kLanes] = {};
        sum_losses(own_ranks_.data(), exps_.data(), values_.data(), labels_, sums);
        for (std::size_t lane = 0; lane < std::min(kLanes, rows_ - i); ++lane)
            to[i + lane] = sums[lane] * double{pair_weight_};
    }
}

}  // namespace prefero
