// The criterion of entropy ranking trees (de Sá et al. 2017): the entropy of rankings,
//   H = (sum of p ln p over the distinct rankings) ln k,
// k the mean of (tau + 1) / 2 of every distinct ranking with every ranking. With U the sum of
// the signs of the K distinct ones and S of all, k = (1 + U.S / (pairs K w)) / 2.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/criteria/sums.hpp"
#include "core/exponential.hpp"

namespace prefero {

// Width is the number of blocks per row if it is known when compiling, else 0.
template <std::size_t Width>
class EntropyCriterion : public CutByCut {
  public:
    static constexpr bool kKeepsCuts = true;

    // Of the rows that were moved: the sum of all, of one per ranking that is among them, and of
    // one a ranking that is no longer right.
    struct Left {
        VectorSums<Width> all, once, gone;
        int kinds = 0, gone_kinds = 0;
        double count_entropies = 0, right_count_entropies = 0;
    };

    EntropyCriterion(const Sample& sample, const Stopping& stopping)
        : sample_(sample),
          unit_(sample.data.unit()),
          description_length_(stopping.description_length),
          width_(sample.data.width()),
          kind_of_id_(sample.data.distinct(), kNone),
          kind_of_row_(sample.data.rows()),
          all_(width_),
          once_(width_),
          left_all_(Width ? 0 : width_),
          left_once_(Width ? 0 : width_),
          left_gone_(Width ? 0 : width_),
          large_all_(width_),
          large_left_(width_) {
        for (std::size_t x = 1; x < kTabulated; ++x) table_[x] = xlogx(static_cast<double>(x));
    }

    PREFERO_INLINE void enter(RowSpan rows, bool large) {
        large_ = large;
        number_kinds(rows);
        Left sums = start();
        push(sums, rows);
        for (std::size_t k = 0; k < width(); ++k) {
            store(all_[k], block_of(sums.all, k));
            store(once_[k], block_of(sums.once, k));
        }
        count_entropies_ = sums.count_entropies;
        if (large) {
            large_all_ = large_left_;
            large_all_.round(all_.data());
        }
        Child node{{static_cast<int>(kinds_.size()), count_entropies_}, weight(), 0};
        if (large)
            measure_large(
                node, [&](std::size_t i) { return large_all_[i]; },
                [&](std::size_t i) { return value_of(once_, i); });
        else
            node.product = product_of_node();
        entropy_ = entropy(node);
    }

    PREFERO_INLINE float weight() const { return all_[0].value[kWeightAt]; }

    PREFERO_INLINE bool pure() const {
        return large_ ? large_all_.consistent(large_all_.size(), unit_)
                      : consistent(all_.data(), width(), unit_);
    }

    PREFERO_INLINE Left start() {
        if (large_) large_left_.clear();
        if (!single_)
            for (Kind& kind : kinds_) {
                kind.left_rows = 0;
                kind.left_count = 0;
                kind.left_weight = 0;
            }
        return {zero_sums<Width>(left_all_),
                zero_sums<Width>(left_once_),
                zero_sums<Width>(left_gone_),
                0,
                0,
                0,
                count_entropies_};
    }

    PREFERO_INLINE void push(Left& left, RowSpan rows) {
        if (large_) large_left_.add(sample_, rows);
        for (std::uint32_t row : rows) {
            accumulate(left.all, sample_.simd_row(row), width());
            single_ ? push_single(left, row) : push_kind(left, row);
        }
    }

    PREFERO_INLINE float quality(const Left& left) {
        keep(left);
        return qualities()[0];
    }

    // Keeps the cut here until qualities() looks at all that were kept.
    PREFERO_INLINE void keep(const Left& left) {
        Child* children = kept_.children + 2 * kept_.count;
        children[0].part = {left.kinds, left.count_entropies};
        children[1].part = {static_cast<int>(kinds_.size()) - left.gone_kinds,
                            left.right_count_entropies};
        large_ ? measure_large(left, children) : measure(left, children);
        for (std::size_t side = 0; side < 2; ++side)
            kept_.logarithms[2 * kept_.count + side] = closeness(children[side]);
        ++kept_.count;
    }

    // How good the cuts are that were kept since the last time.
    PREFERO_INLINE const float* qualities() {
        const std::size_t count = kept_.count;
        kept_.count = 0;
        take_logarithms(kept_.logarithms, 2 * count);
        for (std::size_t cut = 0; cut < count; ++cut) {
            const double entropies = weighted_entropy(2 * cut) + weighted_entropy(2 * cut + 1);
            const double w = kept_.children[2 * cut].weight + kept_.children[2 * cut + 1].weight;
            kept_.qualities[cut] = static_cast<float>(-entropies / w);
        }
        return kept_.qualities;
    }

    // Delta of the MDLPC: how many bits, here nats, naming the rankings of the children saves.
    PREFERO_INLINE void note_best(std::size_t cut) {
        if (!description_length_) return;
        const auto k = static_cast<double>(kinds_.size());
        const double choices = k < 30 ? std::log(std::pow(3.0, k) - 2) : k * std::log(3.0);
        delta_ = choices - k * entropy_;
        for (std::size_t child = 2 * cut; child < 2 * cut + 2; ++child)
            delta_ += kept_.children[child].part.kinds * weighted_entropy(child) /
                      kept_.children[child].weight;
    }

    bool accepts(float quality) const {
        const double gain = entropy_ + quality, w = weight();
        if (!(gain > 1e-7)) return false;
        return !description_length_ || gain > (std::log(std::max(w - 1, 1.0)) + delta_) / w;
    }

    double decrease(float quality) const { return weight() * std::max(0.0, entropy_ + quality); }

  private:
    static constexpr std::size_t kTabulated = 1024;
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    // A ranking that occurs in the node.
    struct Kind {
        std::size_t id;
        const Block* signs;
        std::int32_t rows = 0, left_rows = 0;
        std::uint32_t count = 0, left_count = 0;  // the weights below, if they are whole
        double weight = 0, left_weight = 0;
    };

    // How many rankings a set of rows has, and the sum of n ln n over them.
    struct Part {
        int kinds;
        double count_entropies;
    };

    // The rows on one side of a cut, and the product of their summed signs with those of one a
    // ranking.
    struct Child {
        Part part;
        double weight, product;
    };

    // Cuts that are looked at together: their logarithms are taken side by side.
    struct Kept {
        std::size_t count = 0;
        Child children[2 * kBins];
        double logarithms[2 * kBins];
        float qualities[kBins];
    };

    PREFERO_INLINE std::size_t width() const { return Width ? Width : width_; }

    static float value_of(const Blocks& blocks, std::size_t i) {
        return blocks[i / kSimdWidth].value[i % kSimdWidth];
    }

    // Numbers the rankings of the node: what is kept of them stays in the first cache.
    PREFERO_INLINE void number_kinds(RowSpan rows) {
        for (const Kind& kind : kinds_) kind_of_id_[kind.id] = kNone;
        kinds_.clear();
        std::size_t all = 0;
        for (std::uint32_t row : rows) {
            const std::size_t id = sample_.data.id(sample_.origin[row]);
            if (kind_of_id_[id] == kNone) {
                kind_of_id_[id] = static_cast<std::uint32_t>(kinds_.size());
                kinds_.push_back(Kind{id, sample_.data.simd_row(sample_.origin[row])});
            }
            kind_of_row_[row] = kind_of_id_[id];
            Kind& kind = kinds_[kind_of_row_[row]];
            ++kind.rows;
            kind.count += sample_.counts[row];
            kind.weight += sample_.weights[row];
            all += sample_.counts[row];
        }
        whole_ = sample_.counts_in_floats && all < kTabulated;
        single_ = kinds_.size() == static_cast<std::size_t>(rows.end() - rows.begin());
    }

    PREFERO_INLINE const Block* unweighted(std::uint32_t row) const {
        // That of a row of weight 1 was read just now.
        return sample_.weights[row] == 1 ? sample_.simd_row(row)
                                         : sample_.data.simd_row(sample_.origin[row]);
    }

    // Where every row has a ranking of its own, one that comes left is gone from the right.
    PREFERO_INLINE void push_single(Left& left, std::uint32_t row) {
        const double change = count_entropy(sample_.weights[row]);
        left.count_entropies += change;
        left.right_count_entropies -= change;
        accumulate(left.once, unweighted(row), width());
        ++left.kinds;
        ++left.gone_kinds;
    }

    PREFERO_INLINE void push_kind(Left& left, std::uint32_t row) {
        Kind& kind = kinds_[kind_of_row_[row]];
        if (kind.left_rows == 0) {
            accumulate(left.once, kind.signs, width());
            ++left.kinds;
        }
        if (whole_) {
            const std::uint32_t own = sample_.counts[row], before = kind.left_count;
            const std::uint32_t after = kind.left_count = before + own;
            const std::uint32_t remains = kind.count - after;
            left.count_entropies += table_[after] - table_[before];
            left.right_count_entropies -= table_[remains + own] - table_[remains];
        } else {
            const double own = sample_.weights[row], before = kind.left_weight;
            const double after = kind.left_weight = before + own, remains = kind.weight - after;
            left.count_entropies += count_entropy(after) - count_entropy(before);
            left.right_count_entropies -= count_entropy(remains + own) - count_entropy(remains);
        }
        if (++kind.left_rows == kind.rows) {
            accumulate(left.gone, kind.signs, width());
            ++left.gone_kinds;
        }
    }

    static double xlogx(double x) { return x > 0 ? x * std::log(x) : 0; }

    // Whole numbers, which unweighted rows give, need no logarithm.
    PREFERO_INLINE bool tabulated(double x) const {
        return x < kTabulated && static_cast<double>(static_cast<std::int32_t>(x)) == x;
    }
    PREFERO_INLINE double count_entropy(double x) const {
        return tabulated(x) ? table_[static_cast<std::int32_t>(x)] : xlogx(x);
    }

    // The products of the summed signs of all with those of one per ranking, without what stands
    // before the signs.
    PREFERO_INLINE double product_of_node() const {
        Eight products = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) products += load(all_[k]) * load(once_[k]);
        return without_heads(products, load(all_[0]), load(once_[0]));
    }

    PREFERO_INLINE static double without_heads(const Eight& products, const Eight& all,
                                               const Eight& once) {
        const double heads =
            double{all[kWeightAt]} * once[kWeightAt] + double{all[kLengthAt]} * once[kLengthAt];
        return sum(products) - heads;
    }

    // Both children in one pass: the right one's sums are never written down.
    PREFERO_INLINE void measure(const Left& left, Child* children) const {
        const VectorSums<Width>& gone = single_ ? left.once : left.gone;
        Eight left_products = broadcast(0), right_products = broadcast(0);
        for (std::size_t k = 0; k < width(); ++k) {
            left_products += block_of(left.all, k) * block_of(left.once, k);
            right_products +=
                (load(all_[k]) - block_of(left.all, k)) * (load(once_[k]) - block_of(gone, k));
        }
        const Eight all = block_of(left.all, 0), once = block_of(left.once, 0);
        children[0].weight = all[kWeightAt];
        children[0].product = without_heads(left_products, all, once);
        children[1].weight = weight() - all[kWeightAt];
        children[1].product =
            without_heads(right_products, load(all_[0]) - all, load(once_[0]) - block_of(gone, 0));
    }

    PREFERO_INLINE void measure_large(const Left& left, Child* children) const {
        const auto sum_at = [](const VectorSums<Width>& sums, std::size_t i) {
            return block_of(sums, i / kSimdWidth)[i % kSimdWidth];
        };
        measure_large(
            children[0], [&](std::size_t i) { return large_left_[i]; },
            [&](std::size_t i) { return sum_at(left.once, i); });
        measure_large(
            children[1], [&](std::size_t i) { return large_all_[i] - large_left_[i]; },
            [&](std::size_t i) {
                return value_of(once_, i) - sum_at(single_ ? left.once : left.gone, i);
            });
    }

    // The sums of all rows in doubles, given one by one.
    template <class All, class Once>
    void measure_large(Child& child, All all, Once once) const {
        child.weight = all(kWeightAt);
        child.product = 0;
        for (std::size_t i = kVectorAt; i < width() * kSimdWidth; ++i)
            child.product += all(i) * once(i);
    }

    // The mean of (tau + 1) / 2, or 1, whose logarithm is 0, where there is no entropy.
    PREFERO_INLINE double closeness(const Child& child) const {
        const double similarity = child.product / (unit_ * child.part.kinds * child.weight);
        const double closeness = std::min(1.0, (1 + similarity) / 2);
        return child.part.kinds < 2 || closeness <= 1e-10 ? 1 : closeness;
    }

    // The entropy of a child whose logarithm was taken, times its weight.
    PREFERO_INLINE double weighted_entropy(std::size_t child) const {
        const Child& own = kept_.children[child];
        return (own.part.count_entropies - count_entropy(own.weight)) * kept_.logarithms[child];
    }

    double entropy(const Child& child) const {
        const double rankings = child.part.count_entropies - count_entropy(child.weight);
        return rankings * std::log(closeness(child)) / child.weight;
    }

    const Sample& sample_;
    double unit_;
    bool description_length_;
    std::size_t width_;
    std::vector<std::uint32_t> kind_of_id_, kind_of_row_;
    std::vector<Kind> kinds_;
    bool single_ = false;  // every row has a ranking of its own
    bool whole_ = false;   // no weight in the node is behind the table
    Blocks all_, once_, left_all_, left_once_, left_gone_;
    double count_entropies_ = 0;
    bool large_ = false;
    LargeSums large_all_, large_left_;
    double table_[kTabulated] = {};
    double entropy_ = 0, delta_ = 0;
    Kept kept_;
};

}  // namespace prefero
