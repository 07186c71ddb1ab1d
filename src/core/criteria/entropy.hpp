// The criterion of entropy ranking trees (de Sá et al. 2017): the entropy of rankings,
//   H = (sum of p ln p over the distinct rankings) ln k,
// k the mean of (tau + 1) / 2 of every distinct ranking with every ranking. With U the sum of
// the signs of the K distinct ones and S of all, k = (1 + U.S / (pairs K w)) / 2.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/criteria/sums.hpp"

namespace prefero {

class EntropyCriterion {
  public:
    static constexpr bool kFindsCuts = false;
    static constexpr bool kBoosts = false;
    struct Left {};  // lives in the criterion: rows move one by one

    EntropyCriterion(const Sample& sample, const Stopping& stopping)
        : sample_(sample),
          unit_(sample.data.unit()),
          description_length_(stopping.description_length),
          width_(sample.data.width()),
          counts_(sample.data.distinct()),
          node_(width_),
          left_(width_),
          right_(width_),
          large_node_(width_),
          large_left_(width_) {
        for (std::size_t x = 1; x < kTabulated; ++x) table_[x] = xlogx(static_cast<double>(x));
    }

    PREFERO_INLINE void enter(RowSpan rows, bool large) {
        large_ = large;
        for (std::size_t id : distinct_) counts_[id] = Count{};
        distinct_.clear();
        node_.reset();
        for (std::uint32_t row : rows) {
            const std::size_t id = id_of(row);
            Count& count = counts_[id];
            if (count.rows == 0) distinct_.push_back(id);
            node_.push(count.rows, count.weight, row, *this);
            ++count.rows;
            count.weight += sample_.weights[row];
        }
        if (large) {
            large_node_.clear();
            large_node_.add(sample_, rows);
            large_node_.round(node_.all.data());
            entropy_ = large_entropy(node_, [&](std::size_t i) { return large_node_[i]; });
        } else {
            entropy_ = entropy(node_);
        }
    }

    PREFERO_INLINE float weight() const { return node_.all[0].lane[kWeightLane]; }

    PREFERO_INLINE bool pure() const {
        return large_ ? large_node_.consistent(large_node_.size(), unit_)
                      : consistent(node_.all.data(), width_, unit_);
    }

    PREFERO_INLINE Left start() {
        if (large_) large_left_.clear();
        left_.reset();
        right_ = node_;
        for (std::size_t id : distinct_) {
            Count& count = counts_[id];
            count.left_rows = 0;
            count.left_weight = 0;
        }
        return {};
    }

    PREFERO_INLINE void push(Left&, RowSpan rows) {
        if (large_) large_left_.add(sample_, rows);
        for (std::uint32_t row : rows) {
            Count& count = counts_[id_of(row)];
            left_.push(count.left_rows, count.left_weight, row, *this);
            ++count.left_rows;
            count.left_weight += sample_.weights[row];
            right_.pull(count.rows - count.left_rows, count.weight - count.left_weight, row, *this);
        }
    }

    PREFERO_INLINE float quality(const Left&) {
        double w = weight(), here = left_.all[0].lane[kWeightLane];
        if (large_) {
            w = large_node_.weight();
            here = large_left_.weight();
            left_entropy_ = large_entropy(left_, [&](std::size_t i) { return large_left_[i]; });
            right_entropy_ = large_entropy(
                right_, [&](std::size_t i) { return large_node_[i] - large_left_[i]; });
        } else {
            left_entropy_ = entropy(left_);
            right_entropy_ = entropy(right_);
        }
        return static_cast<float>(-(here * left_entropy_ + (w - here) * right_entropy_) / w);
    }

    // Delta of the MDLPC: how many bits, here nats, naming the rankings of the children saves.
    PREFERO_INLINE void note(const Left&) {
        const double k = node_.kinds;
        const double choices = k < 30 ? std::log(std::pow(3.0, k) - 2) : k * std::log(3.0);
        delta_ =
            choices - (k * entropy_ - left_.kinds * left_entropy_ - right_.kinds * right_entropy_);
    }

    bool accepts(float quality) const {
        const double gain = entropy_ + quality, w = weight();
        if (!(gain > 1e-7)) return false;
        return !description_length_ || gain > (std::log(std::max(w - 1, 1.0)) + delta_) / w;
    }

    double decrease(float quality) const { return weight() * std::max(0.0, entropy_ + quality); }

  private:
    static constexpr std::size_t kTabulated = 1024;

    struct Count {
        std::int32_t rows = 0, left_rows = 0;
        double weight = 0, left_weight = 0;
    };

    static double xlogx(double x) { return x > 0 ? x * std::log(x) : 0; }

    // Whole numbers, which unweighted rows give, need no logarithm.
    PREFERO_INLINE double count_entropy(double x) const {
        const auto whole = static_cast<std::size_t>(x);
        return whole < kTabulated && static_cast<double>(whole) == x ? table_[whole] : xlogx(x);
    }

    // What a row adds to the sum of n ln n if its ranking has this weight without it.
    PREFERO_INLINE double count_change(double weight, std::uint32_t row) const {
        return count_entropy(weight + sample_.weights[row]) - count_entropy(weight);
    }

    // Sums over a set of rows: of all, of one row a distinct ranking, of n ln n over these.
    struct Sums {
        explicit Sums(std::size_t width) : all(width), once(width) {}

        void reset() {
            clear_all(all.data(), all.size());
            clear_all(once.data(), once.size());
            kinds = 0;
            count_entropies = 0;
        }

        // Takes a row in whose ranking already has so many rows of this weight.
        PREFERO_INLINE void push(std::int32_t rows, double weight, std::uint32_t row,
                                 const EntropyCriterion& own) {
            add_all(all.data(), own.sample_.lane(row), all.size());
            count_entropies += own.count_change(weight, row);
            if (rows == 0) change_kinds(own.sample_, row, 1);
        }

        // Gives a row up; so many rows of this weight remain of its ranking.
        PREFERO_INLINE void pull(std::int32_t rows, double weight, std::uint32_t row,
                                 const EntropyCriterion& own) {
            const Block* lanes = own.sample_.lane(row);
            for (std::size_t k = 0; k < all.size(); ++k)
                store(all[k], load(all[k]) - load(lanes[k]));
            count_entropies -= own.count_change(weight, row);
            if (rows == 0) change_kinds(own.sample_, row, -1);
        }

        PREFERO_INLINE void change_kinds(const Sample& sample, std::uint32_t row, int change) {
            const Block* lanes = sample.data.lanes(sample.origin[row]);
            const Eight sign = broadcast(static_cast<float>(change));
            for (std::size_t k = 0; k < all.size(); ++k)
                store(once[k], load(once[k]) + sign * load(lanes[k]));
            kinds += change;
        }

        Blocks all, once;
        int kinds = 0;
        double count_entropies = 0;
    };

    PREFERO_INLINE double entropy(const Sums& sums) const {
        const Block* all = sums.all.data();
        Eight products = broadcast(0);
        for (std::size_t k = 0; k < width_; ++k) products += load(all[k]) * load(sums.once[k]);
        const double w = all->lane[kWeightLane];
        const double heads = w * sums.once[0].lane[kWeightLane] +
                             all->lane[kLengthLane] * sums.once[0].lane[kLengthLane];
        return entropy(sums, w, sum(products) - heads);
    }

    // The sums of all rows in doubles, given lane by lane.
    template <class Lane>
    double large_entropy(const Sums& sums, Lane all) const {
        double products = 0;
        for (std::size_t i = kVectorLane; i < width_ * kLanes; ++i)
            products += all(i) * sums.once[i / kLanes].lane[i % kLanes];
        return entropy(sums, all(kWeightLane), products);
    }

    // Of rows of weight w whose summed signs have this product with those of the distinct ones.
    PREFERO_INLINE double entropy(const Sums& sums, double w, double product) const {
        if (sums.kinds < 2) return 0;
        const double similarity = product / (unit_ * sums.kinds * w);
        const double closeness = std::min(1.0, (1 + similarity) / 2);
        return closeness > 1e-10 ? (sums.count_entropies / w - std::log(w)) * std::log(closeness)
                                 : 0;
    }

    std::size_t id_of(std::uint32_t row) const { return sample_.data.id(sample_.origin[row]); }

    const Sample& sample_;
    double unit_;
    bool description_length_;
    std::size_t width_;
    std::vector<Count> counts_;
    std::vector<std::size_t> distinct_;
    Sums node_, left_, right_;
    bool large_ = false;
    LargeSums large_node_, large_left_;
    double table_[kTabulated] = {};
    double entropy_ = 0, left_entropy_ = 0, right_entropy_ = 0, delta_ = 0;
};

}  // namespace prefero
