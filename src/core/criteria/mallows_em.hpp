// The criterion of label ranking trees as printed (Cheng et al. 2009, sections 4.2 and 5.1): the
// spreads of the children are those of Algorithm 1, whose rounds extend incomplete rankings to the
// center, in each child anew. Labels that no ranking of a child holds are left out of it.
//
// A cut costs rows x labels per round where MallowsCriterion reads sums.
#pragma once

#include "core/criteria/mallows.hpp"
#include "core/mallows_fitter.hpp"

namespace prefero {

class MallowsEmCriterion : public CutByCut {
  public:
    struct Left {};

    MallowsEmCriterion(const Sample& sample, const Stopping& stopping)
        : sample_(sample),
          sums_(sample, stopping),
          ranks_(sample.data.ranks()),
          thetas_(sample.data.thetas()),
          fit_(ranks_),
          votes_(ranks_.labels),
          present_(ranks_.labels),
          is_left_(sample.data.rows()) {}

    void enter(RowSpan rows, bool large) {
        sums_.enter(rows, large);
        node_.assign(rows.begin(), rows.end());
        weight_ = sample_.weight(rows);
        theta_ = theta(node_);
    }

    float weight() const { return sums_.weight(); }
    bool pure() const { return sums_.pure(); }

    Left start() {
        left_.clear();
        left_weight_ = 0;
        std::fill(is_left_.begin(), is_left_.end(), std::uint8_t{0});
        return {};
    }

    void push(Left&, RowSpan rows) {
        for (std::uint32_t row : rows) {
            left_.push_back(row);
            is_left_[row] = 1;
            left_weight_ += sample_.weights[row];
        }
    }

    float quality(const Left&) {
        right_.clear();
        for (std::uint32_t row : node_)
            if (!is_left_[row]) right_.push_back(row);
        return static_cast<float>(
            (left_weight_ * theta(left_) + (weight_ - left_weight_) * theta(right_)) / weight_);
    }

    bool accepts(float) const { return true; }

    double decrease(float quality) const {
        return quality > theta_ ? weight_ * (quality - theta_) : 0;
    }

  private:
    // The rounds of fit_mallows_batch's caller.
    static constexpr std::size_t kRounds = 20;

    double theta(const std::vector<std::uint32_t>& rows) {
        members_.clear();
        weights_.clear();
        std::fill(present_.begin(), present_.end(), std::uint8_t{0});
        for (std::uint32_t row : rows) {
            const std::size_t origin = sample_.origin[row];
            members_.push_back(static_cast<std::int64_t>(origin));
            weights_.push_back(sample_.weights[row]);
            const double* own = ranks_.row(origin);
            for (std::size_t j = 0; j < ranks_.labels; ++j) present_[j] |= known(own[j]);
        }
        const auto labels =
            static_cast<std::size_t>(std::count(present_.begin(), present_.end(), 1));
        if (labels < 2) return 0;
        if (labels < ranks_.labels) return theta_of_present(labels);
        const MallowsFitter::Distance found = fit(fit_);
        return found.weight > 0 ? thetas_(mean_distance(found)) : 0;
    }

    // The same of a table that holds only the labels which are there.
    double theta_of_present(std::size_t labels) {
        compact_.clear();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const double* own = ranks_.row(static_cast<std::size_t>(members_[i]));
            for (std::size_t j = 0; j < ranks_.labels; ++j)
                if (present_[j]) compact_.push_back(own[j]);
            members_[i] = static_cast<std::int64_t>(i);
        }
        MallowsFitter compact({compact_.data(), members_.size(), labels});
        const MallowsFitter::Distance found = fit(compact);
        return found.weight > 0 ? mallows_theta(mean_distance(found), labels) : 0;
    }

    MallowsFitter::Distance fit(MallowsFitter& fitter) {
        return fitter({members_.data(), weights_.data(), members_.size()}, kRounds, votes_.data(),
                      patient_);
    }

    // A pure set has half a discordant pair, lest its theta be infinite.
    static double mean_distance(MallowsFitter::Distance found) {
        return std::max(found.sum, 0.5) / found.weight;
    }

    const Sample& sample_;
    MallowsCriterion<0> sums_;
    RankMatrix ranks_;
    const ThetaTable& thetas_;
    MallowsFitter fit_;
    Uninterrupted patient_;  // the grower asks between features
    double weight_ = 0, left_weight_ = 0, theta_ = 0;
    std::vector<std::uint32_t> node_, left_, right_;
    std::vector<std::int64_t> members_;
    std::vector<double> weights_, votes_, compact_;
    std::vector<std::uint8_t> present_, is_left_;
};

}  // namespace prefero
