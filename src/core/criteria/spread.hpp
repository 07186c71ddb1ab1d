// The criterion of vectors: how much less they spread around the means of two children than
// around their own. With signs of pairs it is the gain in mean Kendall correlation, with Borda
// votes in mean Spearman correlation: the mean correlation of all pairs of rankings in a node
// of weight w is |S|^2 / w^2 over the squared length of one vector, S their sum.
//
// A criterion offers the grower
//   enter(rows, n)      look at a node; then pure(), weight()
//   add(row, bin)       put the node's rows into the bins of a feature
//   start()             nothing is left of the cut
//   take(left, bin)     move a bin to the left
//   quality(left)       how good the cut here is; larger is better
//   note(left)          the cut here is the best of its feature so far
//   clear(bin)          forget a bin
//   accepts(quality)    whether the best cut of a feature may be made
//   decrease(quality)   weight times what the cut gains
#pragma once

#include <cmath>
#include <vector>

#include "core/sample.hpp"
#include "core/stopping.hpp"

namespace prefero {

// What stands in the first lanes of a row, before its vector.
constexpr std::size_t kWeightLane = 0;
constexpr std::size_t kLengthLane = 1;  // weight times the squared length, 1 if complete
constexpr std::size_t kVectorLane = 2;

// Sums of rows while bins move from right to left; in registers where Width is known.
template <std::size_t Width>
struct LeftSums {
    Eight lanes[Width];
};

template <>
struct LeftSums<0> {
    std::vector<Block>& blocks;
};

// Width is the number of blocks a row if it is known when compiling, else 0.
template <std::size_t Width>
class Spread {
  public:
    using Left = LeftSums<Width>;

    // `unit` is the squared length of the vector of a complete strict ranking.
    Spread(const Sample& sample, const Stopping& stopping, double unit, bool signs)
        : sample_(sample),
          gamma_(stopping.gamma),
          unit_(unit),
          signs_(signs),
          total_(sample.set.width),
          left_(Width ? 0 : sample.set.width),
          bins_(kBins * sample.set.width) {}

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
        Eight lengths = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) {
            const Eight x = load(total_[k]);
            lengths += signs_ ? magnitude(x) : x * x;
        }
        const float weight = this->weight(), length = total_[0].lane[kLengthLane];
        const float heads = signs_ ? weight + length : weight * weight + length * length;
        const float vector = sum(lengths) - heads;
        const float most = static_cast<float>(unit_) * length * kAlmost;
        return vector >= (signs_ ? most : most * weight);
    }

    PREFERO_INLINE void add(std::uint32_t row, std::size_t bin) {
        const Block* lanes = sample_.lane(row);
        Block* sums = &bins_[bin * width()];
        for (std::size_t k = 0; k < width(); ++k) prefero::add(sums[k], lanes[k]);
    }

    PREFERO_INLINE Left start() {
        if constexpr (Width == 0) {
            for (Block& block : left_) block = Block{};
            return {left_};
        } else {
            Left left;
            for (Eight& lanes : left.lanes) lanes = broadcast(0);
            return left;
        }
    }

    PREFERO_INLINE void take(Left& left, std::size_t bin) {
        accumulate(left, &bins_[bin * width()]);
    }

    PREFERO_INLINE void clear(std::size_t bin) {
        Block* sums = &bins_[bin * width()];
        for (std::size_t k = 0; k < width(); ++k) store(sums[k], broadcast(0));
    }

    // Squared distance between the children's means, times the harmonic mean of their weights:
    // no difference of large numbers, so floats are exact enough.
    PREFERO_INLINE float quality(const Left& left) const {
        const Eight head = sum_of(left, 0);
        const float w = weight(), here = head[kWeightLane], share = here / w;
        const float length = head[kLengthLane] - share * total_[0].lane[kLengthLane];
        const Eight shares = broadcast(share);
        Eight squares = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) {
            const Eight difference = sum_of(left, k) - shares * load(total_[k]);
            squares += difference * difference;
        }
        return (sum(squares) - length * length) / (here * (1 - share));
    }

    PREFERO_INLINE void note(const Left&) {}

    bool accepts(float gain) const {
        const double w = weight();
        if (!(gain > 1e-9 * unit_ * w)) return false;
        return gamma_ <= 0 || gamma_ * (1 + similarity_ + gain / (w * unit_)) > 1 + apart_;
    }

    double decrease(float gain) const { return gain / unit_; }

  private:
    static constexpr float kAlmost = 1 - 1e-6f;

    PREFERO_INLINE static Eight magnitude(Eight x) {
        for (std::size_t k = 0; k < kLanes; ++k) x[k] = std::fabs(x[k]);
        return x;
    }

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
    std::vector<Block> total_, left_, bins_;
};

}  // namespace prefero
