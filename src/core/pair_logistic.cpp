#include "core/pair_logistic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/exponential.hpp"
#include "core/simd_ranks.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// Scores further than that from the middle of their row are as good as there.
constexpr double kFarthest = 80;

// What eight rows say of each label.
struct Eights {
    const Block* ranks;
    const Block* utilities;
    const Block* exps;
    const Block* scores;
    std::size_t labels;
};

// Which pairs of eight rows count, and how much.
template <bool Scored>
PREFERO_INLINE Eight counting(const Eights& rows, std::size_t i, std::size_t j) {
    const Eight one = load(rows.ranks[i]), other = load(rows.ranks[j]);
    if constexpr (Scored)
        // Pairs weigh the difference of their utilities; tied labels weigh nothing.
        return magnitude(preferences(one, other) *
                         (load(rows.utilities[i]) - load(rows.utilities[j])));
    return known(one) * known(other);
}

// The derivatives of eight rows' losses.
template <bool Scored>
PREFERO_INLINE void differentiate(const Eights& rows, float pair_weight, Block* first,
                                  Block* second) {
    const std::size_t labels = rows.labels;
    const Eight half = broadcast(0.5f), one = broadcast(1), weight = broadcast(pair_weight);
    for (std::size_t i = 0; i < labels; ++i) store(first[i], broadcast(0));
    for (std::size_t i = 0; i < labels; ++i) store(second[i], broadcast(0));
    for (std::size_t i = 0; i < labels; ++i) {
        const Eight rank = load(rows.ranks[i]), exp = load(rows.exps[i]);
        Eight slope = load(first[i]), bend = load(second[i]);
        for (std::size_t j = i + 1; j < labels; ++j) {
            const Eight counts = weight * counting<Scored>(rows, i, j);
            const Eight probability = exp / (exp + load(rows.exps[j]));
            const Eight wanted = half + half * preferences(rank, load(rows.ranks[j]));
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

PREFERO_CLONES void differentiate_plain(const Eights& rows, float pair_weight, Block* first,
                                        Block* second) {
    differentiate<false>(rows, pair_weight, first, second);
}

PREFERO_CLONES void differentiate_scored(const Eights& rows, float pair_weight, Block* first,
                                         Block* second) {
    differentiate<true>(rows, pair_weight, first, second);
}

// Adds up logarithms of numbers from 1 to 2, by their products as long as all count alike.
template <bool Scored>
class Logarithms {
  public:
    explicit Logarithms(double* sums) : product_(broadcast(1)), sums_(sums) {}

    PREFERO_INLINE void add(const Eight& counts, const Eight& ratio) {
        const Eight one = broadcast(1);
        if constexpr (Scored) {
            for (std::size_t slot = 0; slot < kSimdWidth; ++slot)
                sums_[slot] += double{counts[slot]} * std::log1p(double{ratio[slot]});
        } else {
            product_ = product_ * (one + counts * ratio);
            if (++factors_ == kMost) finish();
        }
    }

    PREFERO_INLINE void finish() {
        if constexpr (Scored) return;
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot)
            sums_[slot] += std::log(double{product_[slot]});
        product_ = broadcast(1);
        factors_ = 0;
    }

  private:
    static constexpr std::size_t kMost = 64;  // factors whose product stays small

    Eight product_;
    double* sums_;
    std::size_t factors_ = 0;
};

// The losses of eight rows. With d the lead of a label and s +1, -1 or 0 where it ought to be
// ahead, behind or level, that of a pair is log(1 + exp(-|d|)) + (|d| - s d) / 2.
template <bool Scored>
PREFERO_INLINE void sum_losses(const Eights& rows, double* losses) {
    const Eight half = broadcast(0.5f);
    Logarithms<Scored> logarithms(losses);
    for (std::size_t i = 0; i < rows.labels; ++i) {
        const Eight rank = load(rows.ranks[i]), exp = load(rows.exps[i]);
        const Eight score = load(rows.scores[i]);
        Eight sums = broadcast(0);
        for (std::size_t j = i + 1; j < rows.labels; ++j) {
            const Eight away = load(rows.exps[j]), lead = score - load(rows.scores[j]);
            const Eight counts = counting<Scored>(rows, i, j);
            logarithms.add(counts,
                           where_larger(exp, away, away, exp) / where_larger(exp, away, exp, away));
            const Eight sign = preferences(rank, load(rows.ranks[j]));
            sums += counts * half * (magnitude(lead) - sign * lead);
        }
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot) losses[slot] += double{sums[slot]};
    }
    logarithms.finish();
}

PREFERO_CLONES void sum_losses_plain(const Eights& rows, double* losses) {
    sum_losses<false>(rows, losses);
}

PREFERO_CLONES void sum_losses_scored(const Eights& rows, double* losses) {
    sum_losses<true>(rows, losses);
}

}  // namespace

ScoredRanks::ScoredRanks(RankMatrix ranks, const double* start, const double* utilities)
    : rows_(ranks.rows),
      labels_(ranks.labels),
      pair_weight_(1.0f / static_cast<float>(std::max<std::size_t>(ranks.labels, 2) - 1)),
      ranks_(ranks.data, ranks.data + ranks.rows * ranks.labels),
      scores_(ranks.rows * ranks.labels),
      worths_(labels_ * kSimdWidth),
      own_ranks_(labels_),
      own_utilities_(utilities ? labels_ : 0),
      exps_(labels_),
      values_(labels_),
      first_(labels_),
      second_(labels_) {
    if (utilities)
        // Zero where a rank is unknown: such pairs do not count, and nothing times NaN is NaN.
        for (std::size_t i = 0; i < rows_ * labels_; ++i)
            utilities_.push_back(known(ranks.data[i]) ? static_cast<float>(utilities[i]) : 0.0f);
    for (std::size_t r = 0; r < rows_; ++r)
        std::copy_n(start, labels_, scores_.begin() + static_cast<std::ptrdiff_t>(r * labels_));
}

// Reads up to eight rows, the last one again and again if there are fewer.
void ScoredRanks::read(const std::uint32_t* rows, std::size_t count, std::size_t eight) {
    for (std::size_t slot = 0; slot < kSimdWidth; ++slot) {
        const std::size_t row = rows[std::min(eight + slot, count - 1)];
        const double* own = scores_.data() + row * labels_;
        const auto [least, most] = std::minmax_element(own, own + labels_);
        const double middle = (*least + *most) / 2;
        for (std::size_t k = 0; k < labels_; ++k) {
            const double score = std::clamp(own[k] - middle, -kFarthest, kFarthest);
            worths_[k * kSimdWidth + slot] = score;
            values_[k].value[slot] = static_cast<float>(own[k] - middle);
            own_ranks_[k].value[slot] = ranks_[row * labels_ + k];
        }
        for (std::size_t k = 0; k < own_utilities_.size(); ++k)
            own_utilities_[k].value[slot] = utilities_[row * labels_ + k];
    }
    exponentiate(worths_.data(), worths_.size());
    for (std::size_t k = 0; k < labels_; ++k)
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot)
            exps_[k].value[slot] = static_cast<float>(worths_[k * kSimdWidth + slot]);
}

void ScoredRanks::derivatives(const std::uint32_t* rows, std::size_t count, float* to,
                              std::size_t second, std::size_t stride, Interruption& interruption) {
    for (std::size_t i = 0; i < count; i += kSimdWidth) {
        interruption.spend(kSimdWidth * labels_ + labels_ * labels_);
        read(rows, count, i);
        const Eights own{own_ranks_.data(), own_utilities_.data(), exps_.data(), values_.data(),
                         labels_};
        (utilities_.empty() ? differentiate_plain : differentiate_scored)(
            own, pair_weight_, first_.data(), second_.data());
        for (std::size_t slot = 0; slot < std::min(kSimdWidth, count - i); ++slot) {
            float* here = to + (i + slot) * stride;
            for (std::size_t k = 0; k < labels_; ++k) {
                here[k] = first_[k].value[slot];
                here[second + k] = second_[k].value[slot];
            }
        }
    }
}

void ScoredRanks::losses(double* to, Interruption& interruption) {
    std::vector<std::uint32_t> all(rows_);
    std::iota(all.begin(), all.end(), 0u);
    for (std::size_t i = 0; i < rows_; i += kSimdWidth) {
        interruption.spend(kSimdWidth * labels_ + labels_ * labels_);
        read(all.data(), rows_, i);
        double sums[kSimdWidth] = {};
        const Eights own{own_ranks_.data(), own_utilities_.data(), exps_.data(), values_.data(),
                         labels_};
        (utilities_.empty() ? sum_losses_plain : sum_losses_scored)(own, sums);
        for (std::size_t slot = 0; slot < std::min(kSimdWidth, rows_ - i); ++slot)
            to[i + slot] = sums[slot] * double{pair_weight_};
    }
}

}  // namespace prefero
