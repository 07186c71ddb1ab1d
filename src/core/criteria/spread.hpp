// The criterion of vectors: how much less they spread around the means of two children than
// around their own. With signs of pairs it is the gain in mean Kendall correlation, with Borda
// votes in mean Spearman correlation: the mean correlation of all pairs of rankings in a node
// of weight w is |S|^2 / w^2 over the squared length of one vector, S their sum.
#pragma once

#include "core/criteria/vectors.hpp"

namespace prefero {

// Width is the number of blocks a row if it is known when compiling, else 0.
template <std::size_t Width>
class Spread {
  public:
    using Left = VectorSums<Width>;

    Spread(const Sample& sample, const Stopping& stopping)
        : sample_(sample),
          gamma_(stopping.gamma),
          unit_(sample.data.unit()),
          signs_(sample.data.criterion() == CriterionKind::kKendall),
          cuts_(sample),
          total_(sample.data.width()),
          left_(Width ? 0 : sample.data.width()) {}

    PREFERO_INLINE std::size_t width() const { return Width ? Width : total_.size(); }

    PREFERO_INLINE void enter(const std::uint32_t* rows, std::size_t n) {
        Left sums = start();
        for (std::size_t i = 0; i < n; ++i) accumulate(sums, sample_.lane(rows[i]));
        for (std::size_t k = 0; k < width(); ++k) store(total_[k], sum_of(sums, k));
        if (gamma_ > 0) measure(rows, n);
    }

    PREFERO_INLINE float weight() const { return total_[0].lane[kWeightLane]; }

    // Signs are pure if no two rankings put a pair of labels in different orders, votes if all
    // are the same.
    PREFERO_INLINE bool pure() const {
        if (signs_) return consistent(total_.data(), width(), unit_);
        Eight squares = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) squares += load(total_[k]) * load(total_[k]);
        const float w = weight(), length = total_[0].lane[kLengthLane];
        const float square = sum(squares) - w * w - length * length;
        return square >= static_cast<float>(unit_) * length * w * (1 - 1e-6f);
    }

    // Cuts of numeric features are found all at once, not row by row.
    static constexpr bool kFindsCuts = true;

    PREFERO_INLINE void look(NodeRows node) { cuts_.enter(node, total_.data()); }

    PREFERO_INLINE bool find_cut(std::size_t feature, Cut& cut) { return cuts_.find(feature, cut); }

    PREFERO_INLINE Left start() {
        if constexpr (Width == 0) {
            clear_all(left_.data(), width());
            return {left_.data()};
        } else {
            Left left;
            PREFERO_UNROLL
            for (std::size_t k = 0; k < Width; ++k) left.lanes[k] = broadcast(0);
            return left;
        }
    }

    PREFERO_INLINE void push(Left& left, std::uint32_t row) const {
        accumulate(left, sample_.lane(row));
    }

    // Squared distance between the children's means, times the harmonic mean of their weights.
    // No difference of large numbers, so floats are exact enough; and whole numbers while nodes
    // are small, so that equal cuts are found equal in whatever order lanes are summed.
    PREFERO_INLINE float quality(const Left& left) const {
        const Eight head = sum_of(left, 0);
        const float w = weight(), here = head[kWeightLane];
        const float length = w * head[kLengthLane] - here * total_[0].lane[kLengthLane];
        const Eight all = broadcast(w), part = broadcast(here);
        Eight squares = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) {
            const Eight difference = all * sum_of(left, k) - part * load(total_[k]);
            squares += difference * difference;
        }
        return (sum(squares) - length * length) / (w * here * (w - here));
    }

    PREFERO_INLINE void note(const Left&) {}

    bool accepts(float gain) const {
        const double w = weight();
        if (!(gain > 1e-9 * unit_ * w)) return false;
        return gamma_ <= 0 || gamma_ * (1 + similarity_ + gain / (w * unit_)) > 1 + apart_;
    }

    double decrease(float gain) const { return gain / unit_; }

  private:
    PREFERO_INLINE void accumulate(Left& left, const Block* lanes) const {
        for (std::size_t k = 0; k < width(); ++k) {
            if constexpr (Width == 0)
                prefero::add(left.blocks[k], lanes[k]);
            else
                left.lanes[k] += load(lanes[k]);
        }
    }

    PREFERO_INLINE static Eight sum_of(const Left& left, std::size_t k) {
        if constexpr (Width == 0)
            return load(left.blocks[k]);
        else
            return left.lanes[k];
    }

    // The mean correlation in the node with every ranking against itself, and without.
    void measure(const std::uint32_t* rows, std::size_t n) {
        double norm = 0, own = 0, w = weight();
        for (std::size_t i = kVectorLane; i < width() * kLanes; ++i) {
            const double s = total_[i / kLanes].lane[i % kLanes];
            norm += s * s;
        }
        for (std::size_t r = 0; r < n; ++r) own += sample_.lane(rows[r])->lane[kLengthLane];
        similarity_ = norm / (w * w * unit_);
        apart_ = w > 1 ? (norm / unit_ - own) / (w * (w - 1)) : 1;
    }

    const Sample& sample_;
    double gamma_, unit_;
    bool signs_;
    double similarity_ = 0, apart_ = 0;
    VectorCuts<Width> cuts_;
    Blocks total_, left_;
};

}  // namespace prefero
