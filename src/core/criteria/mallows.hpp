// The criterion of label ranking trees (Cheng et al. 2009, equation 6): the mean spread theta of
// the Mallows models of two children, weighted by their size.
//
// A row holds the signs of its pairs and, in as many values again, the difference of the two
// labels' Borda votes. The signs of the summed differences are the order of the center, so the
// rankings' agreement with the center is one pass over the sums. Unknown pairs count nowhere, and
// labels with equal votes agree with half of the rankings.
#pragma once

#include "core/criteria/sums.hpp"

namespace prefero {

// Half is the number of blocks of the signs, or of the differences, if it is known when compiling,
// else 0.
template <std::size_t Half>
class MallowsCriterion : public CutByCut {
  public:
    struct Left {
        VectorSums<Half> signs, votes;
    };

    MallowsCriterion(const Sample& sample, const Stopping&)
        : sample_(sample),
          unit_(sample.data.unit()),
          pairs_(static_cast<double>(pair_count(sample.data.labels()))),
          width_(sample.data.width()),
          thetas_(sample.data.thetas()),
          total_(width_),
          left_signs_(Half ? 0 : width_ / 2),
          left_votes_(Half ? 0 : width_ / 2),
          large_total_(width_),
          large_left_(width_) {}

    PREFERO_INLINE void enter(RowSpan rows, bool large) {
        large_ = large;
        if (large) {
            large_total_.clear();
            large_total_.add(sample_, rows);
            large_total_.round(total_.data());
            theta_ = large_theta([&](std::size_t i) { return large_total_[i]; });
        } else {
            Left sums = start();
            push(sums, rows);
            for (std::size_t k = 0; k < half(); ++k) {
                store(total_[k], block_of(sums.signs, k));
                store(total_[half() + k], block_of(sums.votes, k));
            }
            theta_ = theta(total_.data());
        }
    }

    PREFERO_INLINE float weight() const { return total_[0].value[kWeightAt]; }

    PREFERO_INLINE bool pure() const {
        return large_ ? large_total_.consistent(half() * kSimdWidth, unit_)
                      : consistent(total_.data(), half(), unit_);
    }

    PREFERO_INLINE Left start() {
        if (large_) large_left_.clear();
        return {zero_sums<Half>(left_signs_), zero_sums<Half>(left_votes_)};
    }

    PREFERO_INLINE void push(Left& left, RowSpan rows) {
        if (large_) return large_left_.add(sample_, rows);
        for (std::uint32_t row : rows) {
            accumulate(left.signs, sample_.simd_row(row), half());
            accumulate(left.votes, sample_.simd_row(row) + half(), half());
        }
    }

    // Both children in one pass: the right one's sums are never written down.
    PREFERO_INLINE float quality(const Left& left) {
        if (large_) return large_quality();
        const float* all = total_[0].value;
        const Eight own = block_of(left.signs, 0);
        const float here = own[kWeightAt], there = all[kWeightAt] - own[kWeightAt];
        const float least_here = equal_votes(here), least_there = equal_votes(there);
        Eight left_agreement = broadcast(0), right_agreement = broadcast(0);
        for (std::size_t k = 0; k < half(); ++k) {
            const Eight signs = block_of(left.signs, k), votes = block_of(left.votes, k);
            left_agreement += with_sign(signs, votes, least_here);
            right_agreement +=
                with_sign(load(total_[k]) - signs, load(total_[half() + k]) - votes, least_there);
        }
        const float right_length = all[kLengthAt] - own[kLengthAt];
        return static_cast<float>((here * theta(own[kLengthAt], sum(left_agreement)) +
                                   there * theta(right_length, sum(right_agreement))) /
                                  (here + there));
    }

    bool accepts(float) const { return true; }

    double decrease(float quality) const {
        return quality > theta_ ? weight() * (quality - theta_) : 0;
    }

  private:
    PREFERO_INLINE std::size_t half() const { return Half ? Half : width_ / 2; }

    // Votes that are equal in theory differ by rounding: sums nearer than this are one.
    static float equal_votes(float weight) { return 1e-5f * weight; }

    float large_quality() const {
        const double w = large_total_.weight(), here = large_left_.weight();
        const double left = large_theta([&](std::size_t i) { return large_left_[i]; });
        const double right =
            large_theta([&](std::size_t i) { return large_total_[i] - large_left_[i]; });
        return static_cast<float>((here * left + (w - here) * right) / w);
    }

    // Of sums in doubles, given one by one.
    template <class Sum>
    double large_theta(Sum sum_at) const {
        const std::size_t votes_at = half() * kSimdWidth;
        const double least = 1e-5 * sum_at(kWeightAt);
        double agreement = 0;
        for (std::size_t i = kVectorAt; i < votes_at; ++i) {
            const double votes = sum_at(votes_at + i);
            agreement += votes > least ? sum_at(i) : votes < -least ? -sum_at(i) : 0;
        }
        return theta(sum_at(kLengthAt), agreement);
    }

    PREFERO_INLINE double theta(const Block* sums) const {
        const float least = equal_votes(sums->value[kWeightAt]);
        Eight agreement = broadcast(0);
        for (std::size_t k = 0; k < half(); ++k)
            agreement += with_sign(load(sums[k]), load(sums[half() + k]), least);
        return theta(sums->value[kLengthAt], sum(agreement));
    }

    // A pure set has an infinite theta. It gets the one of half a discordant pair in all its
    // rankings: less than any set that is not pure can have, and the larger the set the less.
    PREFERO_INLINE double theta(double length, double agreement) const {
        const double seen = unit_ * length;
        if (!(seen > 0)) return 0;
        const double discordant = (seen - agreement) / 2;
        return thetas_(pairs_ / seen * (discordant > 0.5 ? discordant : 0.5));
    }

    const Sample& sample_;
    double unit_, pairs_;
    std::size_t width_;  // the second half of the blocks holds the differences
    const ThetaTable& thetas_;
    double theta_ = 0;
    Blocks total_, left_signs_, left_votes_;
    bool large_ = false;
    LargeSums large_total_, large_left_;
};

}  // namespace prefero
