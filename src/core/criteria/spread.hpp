// The criterion of vectors: how much less they spread around the means of two children than
// around their own. With signs of pairs it is the gain in mean Kendall correlation, with Borda
// votes in mean Spearman correlation: the mean correlation of all pairs of rankings in a node
// of weight w is |S|^2 / w^2 over the squared length of one vector, S their sum.
#pragma once

#include "core/criteria/vectors.hpp"

namespace prefero {

// Width is the number of blocks per row if it is known when compiling, else 0. In shorts are
// samples whose cuts are all found at once, as best cuts of numeric features are in complete
// rankings.
template <std::size_t Width, bool InShorts = false>
class Spread : public CutByCut {
  public:
    using Left = VectorSums<Width>;

    Spread(const Sample& sample, const Stopping& stopping)
        : sample_(sample),
          rules_{sample.data.unit(), stopping.gamma},
          signs_(sample.data.criterion() == CriterionKind::kKendall),
          cuts_(sample),
          total_(sample.data.width()),
          left_(Width ? 0 : sample.data.width()),
          large_total_(sample.data.width()),
          large_left_(sample.data.width()) {}

    PREFERO_INLINE std::size_t width() const { return Width ? Width : total_.size(); }

    PREFERO_INLINE void enter(RowSpan rows, bool large) {
        large_ = large;
        if (large) {
            large_total_.clear();
            large_total_.add(sample_, rows);
            large_total_.round(total_.data());
        } else if constexpr (InShorts) {
            sum_shorts(rows);
            return;
        } else {
            Left sums = start();
            push(sums, rows);
            for (std::size_t k = 0; k < width(); ++k) store(total_[k], block_of(sums, k));
        }
        if (rules_.gamma > 0) measure(rows);
    }

    PREFERO_INLINE float weight() const { return total_[0].value[kWeightAt]; }

    // Signs are pure if no two rankings put a pair of labels in different orders, votes if all
    // are the same.
    PREFERO_INLINE bool pure() const {
        if (large_) return large_pure();
        if (signs_) return consistent(total_.data(), width(), rules_.unit);
        Eight squares = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) squares += load(total_[k]) * load(total_[k]);
        const float w = weight(), length = total_[0].value[kLengthAt];
        const float square = sum(squares) - w * w - length * length;
        return vectors_agree(square, static_cast<float>(rules_.unit) * length, w);
    }

    // Cuts of numeric features are found all at once, not row by row, unless the node is large.
    static constexpr bool kFindsCuts = true;
    static constexpr bool kCutsAlone = InShorts;

    PREFERO_INLINE bool finds_cuts() const { return !large_; }

    PREFERO_INLINE void start_cuts(NodeRows node) { cuts_.enter(node, total_.data()); }

    PREFERO_INLINE bool find_cut(std::size_t feature, Cut& cut) { return cuts_.find(feature, cut); }

    PREFERO_INLINE Left start() {
        if (large_) large_left_.clear();
        return zero_sums<Width>(left_);
    }

    PREFERO_INLINE void push(Left& left, RowSpan rows) {
        if (large_) return large_left_.add(sample_, rows);
        accumulate(left, sample_, rows, width());
    }

    // Squared distance between the children's means, times the harmonic mean of their weights.
    // No difference of large numbers, so floats are exact enough; and whole numbers while nodes
    // are small, so that equal cuts are found equal in whatever order values are summed.
    PREFERO_INLINE float quality(const Left& left) const {
        if (large_) return large_quality();
        const Eight head = block_of(left, 0);
        const float w = weight(), here = head[kWeightAt];
        const float length = w * head[kLengthAt] - here * total_[0].value[kLengthAt];
        const Eight all = broadcast(w), part = broadcast(here);
        Eight squares = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) {
            const Eight difference = all * block_of(left, k) - part * load(total_[k]);
            squares += difference * difference;
        }
        return (sum(squares) - length * length) / (w * here * (w - here));
    }

    bool accepts(float gain) const { return rules_.accepts(gain, weight(), similarity_); }
    double decrease(float gain) const { return rules_.decrease(gain); }

  private:
    // Of many rows in floats, some of them at a time.
    PREFERO_INLINE void sum_shorts(RowSpan rows) {
        constexpr std::size_t kBlocks = Width ? (Width + 1) / 2 : 1;
        clear_all(total_.data(), width());
        const std::size_t blocks = Width ? kBlocks : sample_.short_width();
        while (rows.first != rows.last) {
            const auto left = static_cast<std::size_t>(rows.last - rows.first);
            const std::uint32_t* end = rows.first + std::min(left, sample_.rows_in_shorts);
            for (std::size_t first = 0; first < blocks; first += kBlocks) {
                Shorts sums[kBlocks] = {};
                for (const std::uint32_t* row = rows.first; row != end; ++row)
                    for (std::size_t k = 0; k < kBlocks; ++k)
                        sums[k] += load(sample_.short_row(*row)[first + k]);
                ShortBlock summed[kBlocks];
                for (std::size_t k = 0; k < kBlocks; ++k) store(summed[k], sums[k]);
                add_all(total_.data() + 2 * first, summed,
                        std::min(2 * kBlocks, width() - 2 * first));
            }
            rows.first = end;
        }
    }

    bool large_pure() const {
        if (signs_) return large_total_.consistent(large_total_.size(), rules_.unit);
        double squares = 0;
        for (std::size_t i = kVectorAt; i < large_total_.size(); ++i)
            squares += large_total_[i] * large_total_[i];
        return vectors_agree(squares, rules_.unit * large_total_.length(), large_total_.weight());
    }

    float large_quality() const {
        const double w = large_total_.weight(), here = large_left_.weight(), there = w - here;
        double squares = 0;
        for (std::size_t i = kVectorAt; i < large_left_.size(); ++i) {
            const double own = large_left_[i], difference = w * own - here * large_total_[i];
            squares += difference * difference;
        }
        return static_cast<float>(squares / (w * here * there));
    }

    void measure(RowSpan rows) {
        double square = 0, length = 0;
        for (std::size_t i = kVectorAt; i < width() * kSimdWidth; ++i) {
            const double s = total_[i / kSimdWidth].value[i % kSimdWidth];
            square += s * s;
        }
        for (std::uint32_t row : rows) length += sample_.simd_row(row)->value[kLengthAt];
        similarity_ = rules_.similarity(square, length, weight());
    }

    const Sample& sample_;
    SpreadRules rules_;
    bool signs_;
    Similarity similarity_;
    VectorCuts<Width, InShorts> cuts_;
    Blocks total_, left_;
    bool large_ = false;
    LargeSums large_total_, large_left_;
};

}  // namespace prefero
