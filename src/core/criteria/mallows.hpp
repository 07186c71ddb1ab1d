// The criterion of label ranking trees (Cheng et al. 2009, equation 6): the mean spread theta of
// the Mallows models of two children, weighted by their size.
//
// A row holds the signs of its pairs and, in as many lanes again, the difference of the two
// labels' Borda votes. The signs of the summed differences are the order of the center, so the
// rankings' agreement with the center is one pass over the sums. Unknown pairs count nowhere, and
// labels with equal votes agree with half of the rankings.
#pragma once

#include "core/criteria/sums.hpp"

namespace prefero {

class MallowsCriterion {
  public:
    static constexpr bool kFindsCuts = false;
    static constexpr bool kBoosts = false;
    struct Left {
        Block* sums;
    };

    MallowsCriterion(const Sample& sample, const Stopping&)
        : sample_(sample),
          unit_(sample.data.unit()),
          pairs_(static_cast<double>(pair_count(sample.data.labels()))),
          width_(sample.data.width()),
          thetas_(sample.data.thetas()),
          total_(width_),
          left_(width_),
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
            clear_all(total_.data(), width_);
            for (std::uint32_t row : rows) add_all(total_.data(), sample_.lane(row), width_);
            theta_ = theta(total_.data());
        }
    }

    PREFERO_INLINE float weight() const { return total_[0].lane[kWeightLane]; }

    PREFERO_INLINE bool pure() const {
        return large_ ? large_total_.consistent(width_ / 2 * kLanes, unit_)
                      : consistent(total_.data(), width_ / 2, unit_);
    }

    PREFERO_INLINE Left start() {
        if (large_) large_left_.clear();
        clear_all(left_.data(), width_);
        return {left_.data()};
    }

    PREFERO_INLINE void push(Left& left, RowSpan rows) {
        if (large_) return large_left_.add(sample_, rows);
        for (std::uint32_t row : rows) add_all(left.sums, sample_.lane(row), width_);
    }

    // Both children in one pass: the right one's sums are never written down.
    PREFERO_INLINE float quality(const Left& left) {
        if (large_) return large_quality();
        const std::size_t half = width_ / 2;
        const float* all = total_[0].lane;
        const float* own = left.sums->lane;
        const float here = own[kWeightLane], there = all[kWeightLane] - own[kWeightLane];
        const float least_here = equal_votes(here), least_there = equal_votes(there);
        Eight left_agreement = broadcast(0), right_agreement = broadcast(0);
        for (std::size_t k = 0; k < half; ++k) {
            const Eight signs = load(left.sums[k]), votes = load(left.sums[half + k]);
            left_agreement += with_sign(signs, votes, least_here);
            right_agreement +=
                with_sign(load(total_[k]) - signs, load(total_[half + k]) - votes, least_there);
        }
        const float right_length = all[kLengthLane] - own[kLengthLane];
        return static_cast<float>((here * theta(own[kLengthLane], sum(left_agreement)) +
                                   there * theta(right_length, sum(right_agreement))) /
                                  (here + there));
    }

    PREFERO_INLINE void note(const Left&) {}

    bool accepts(float) const { return true; }

    double decrease(float quality) const {
        return quality > theta_ ? weight() * (quality - theta_) : 0;
    }

  private:
    // Votes that are equal in theory differ by rounding: sums nearer than this are one.
    static float equal_votes(float weight) { return 1e-5f * weight; }

    float large_quality() const {
        const double w = large_total_.weight(), here = large_left_.weight();
        const double left = large_theta([&](std::size_t i) { return large_left_[i]; });
        const double right =
            large_theta([&](std::size_t i) { return large_total_[i] - large_left_[i]; });
        return static_cast<float>((here * left + (w - here) * right) / w);
    }

    // Of sums in doubles, given lane by lane.
    template <class Lane>
    double large_theta(Lane lane) const {
        const std::size_t half = width_ / 2 * kLanes;
        const double least = 1e-5 * lane(kWeightLane);
        double agreement = 0;
        for (std::size_t i = kVectorLane; i < half; ++i) {
            const double votes = lane(half + i);
            agreement += votes > least ? lane(i) : votes < -least ? -lane(i) : 0;
        }
        return theta(lane(kLengthLane), agreement);
    }

    PREFERO_INLINE double theta(const Block* sums) const {
        const std::size_t half = width_ / 2;
        const float least = equal_votes(sums->lane[kWeightLane]);
        Eight agreement = broadcast(0);
        for (std::size_t k = 0; k < half; ++k)
            agreement += with_sign(load(sums[k]), load(sums[half + k]), least);
        return theta(sums->lane[kLengthLane], sum(agreement));
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
    Blocks total_, left_;
    bool large_ = false;
    LargeSums large_total_, large_left_;
};

}  // namespace prefero
