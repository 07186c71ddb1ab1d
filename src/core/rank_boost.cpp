#include "core/rank_boost.hpp"

#include <algorithm>
#include <cmath>

namespace prefero {

namespace {

// The exponents of a group are brought back to this range when they may have left it by kDrift:
// products of two such factors, and sums of them, stay finite.
constexpr double kLargestExponent = 250, kDrift = 50;

// The weights exp(s_worse - s_better) of all ordered pairs, times those of their objects, held as
// two factors per object.
class PairWeights {
  public:
    explicit PairWeights(const RankedRows& orders)
        : orders_(orders),
          scores_(rows()),
          up_(orders.weights, orders.weights + rows()),
          down_(up_) {}

    std::size_t rows() const { return orders_.groups.begin(orders_.groups.count); }

    // Adds a weight to the scores of the chosen rows.
    void raise(const std::vector<std::uint8_t>& chosen, double weight) {
        const double factor = std::exp(weight), inverse = 1 / factor;
        for (std::size_t row = 0; row < rows(); ++row) {
            scores_[row] += chosen[row] ? weight : 0.0;
            up_[row] *= chosen[row] ? factor : 1.0;
            down_[row] *= chosen[row] ? inverse : 1.0;
        }
        drift_ += std::fabs(weight);
        if (drift_ > kDrift) renew();
    }

    // Writes for each object the weight of its pairs with worse objects minus that with better
    // ones; returns the weight of all pairs.
    double potential(double* balance) const {
        double total = 0;
        for (std::size_t g = 0; g < orders_.groups.count; ++g)
            total += group_potential(orders_.groups.begin(g), orders_.groups.begin(g + 1), balance);
        return total;
    }

  private:
    double group_potential(std::size_t first, std::size_t last, double* balance) const {
        const double* positions = orders_.positions;
        double better = 0, worse = 0, total = 0;
        for (std::size_t begin = first, end; begin < last; begin = end) {
            double here = 0;
            for (end = begin; end < last && positions[end] == positions[begin]; ++end) {
                const double weight = up_[end] * better;
                balance[end] = -weight;
                total += weight;
                here += down_[end];
            }
            better += here;
        }
        for (std::size_t end = last, begin; end > first; end = begin) {
            double here = 0;
            for (begin = end; begin > first && positions[begin - 1] == positions[end - 1];
                 --begin) {
                balance[begin - 1] += down_[begin - 1] * worse;
                here += up_[begin - 1];
            }
            worse += here;
        }
        return total;
    }

    void renew() {
        drift_ = 0;
        for (std::size_t g = 0; g < orders_.groups.count; ++g) {
            const std::size_t first = orders_.groups.begin(g), last = orders_.groups.begin(g + 1);
            if (first == last) continue;
            const auto [low, high] =
                std::minmax_element(scores_.begin() + static_cast<std::ptrdiff_t>(first),
                                    scores_.begin() + static_cast<std::ptrdiff_t>(last));
            const double middle = (*low + *high) / 2;
            for (std::size_t row = first; row < last; ++row) {
                const double factor = std::exp(
                    std::clamp(scores_[row] - middle, -kLargestExponent, kLargestExponent));
                up_[row] = orders_.weights[row] * factor;
                down_[row] = orders_.weights[row] / factor;
            }
        }
    }

    RankedRows orders_;
    std::vector<double> scores_, up_, down_;
    double drift_ = 0;
};

// Attributes side by side, a few at a time: their histograms are filled in one pass over the
// objects, and one sum need not wait for the other. Wide codes have histograms too large for that.
template <typename Code>
class Histograms {
  public:
    explicit Histograms(const CodedObjects<Code>& table)
        : table_(table), codes_(tiles() * kTile * table.objects) {
        for (std::size_t row = 0; row < table.objects; ++row)
            for (std::size_t k = 0; k < table.attributes; ++k) {
                const Code code = table.codes[row * table.attributes + k];
                at(row, k) = code == table.kMissing ? static_cast<Code>(table.bins[k]) : code;
            }
        for (std::size_t k = 0; k < table.attributes; ++k)
            stride_ = std::max(stride_, static_cast<std::size_t>(table.bins[k]) + 1);
        if (kTile > 1) stride_ = kNarrow;
        sums_.resize(kTile * stride_);
    }

    // The weak ranker whose objects have the largest absolute sum of potentials, and that sum.
    std::pair<WeakRanker, double> best(const double* potential, Interruption& interruption) {
        std::pair<WeakRanker, double> found{{}, 0.0};
        for (std::size_t tile = 0; tile < tiles(); ++tile) {
            interruption.spend(kTile * (table_.objects + stride_));
            fill(tile, potential);
            for (std::size_t j = 0; j < kTile && tile * kTile + j < table_.attributes; ++j)
                scan(tile * kTile + j, sums_.data() + j * stride_, found);
        }
        return found;
    }

    void choose(const WeakRanker& weak, std::vector<std::uint8_t>& chosen) const {
        const auto k = static_cast<std::size_t>(weak.attribute);
        const std::int64_t missing = table_.bins[k];
        chosen.resize(table_.objects);
        for (std::size_t row = 0; row < table_.objects; ++row) {
            const std::int64_t code = at(row, k);
            chosen[row] = code > weak.bin && (weak.missing || code < missing);
        }
    }

  private:
    static constexpr std::size_t kTile = sizeof(Code) == 1 ? 8 : 1;
    static constexpr std::size_t kNarrow = 256;

    std::size_t tiles() const { return (table_.attributes + kTile - 1) / kTile; }
    std::size_t place(std::size_t row, std::size_t k) const {
        return (k / kTile * table_.objects + row) * kTile + k % kTile;
    }
    Code& at(std::size_t row, std::size_t k) { return codes_[place(row, k)]; }
    const Code& at(std::size_t row, std::size_t k) const { return codes_[place(row, k)]; }

    void fill(std::size_t tile, const double* potential) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        // Known when compiling for the narrow codes: their addresses need no multiplication.
        const std::size_t stride = kTile > 1 ? kNarrow : stride_;
        double* sums = sums_.data();
        const Code* codes = codes_.data() + tile * table_.objects * kTile;
        for (std::size_t row = 0; row < table_.objects; ++row, codes += kTile) {
            const double own = potential[row];
            for (std::size_t j = 0; j < kTile; ++j) sums[j * stride + codes[j]] += own;
        }
    }

    void scan(std::size_t attribute, const double* sums, std::pair<WeakRanker, double>& found) {
        const std::int64_t bins = table_.bins[attribute];
        const double missing = sums[bins];
        double above = 0, largest = std::fabs(found.second), gain = 0;
        std::int64_t best = bins;  // none
        bool with_missing = false;
        const auto consider = [&](std::int64_t bin, bool taken, double sum) {
            if (!(std::fabs(sum) > largest)) return;
            largest = std::fabs(sum);
            gain = sum;
            best = bin;
            with_missing = taken;
        };
        for (std::int64_t bin = bins - 1; bin > 0; --bin) {
            above += sums[bin];
            consider(bin - 1, false, above);
            if (missing != 0) consider(bin - 1, true, above + missing);
        }
        if (missing != 0) consider(-1, false, above + sums[0]);
        if (best < bins)
            found = {{static_cast<std::int64_t>(attribute), best, with_missing, 0.0}, gain};
    }

    CodedObjects<Code> table_;
    std::vector<Code> codes_;
    std::size_t stride_ = 1;
    std::vector<double> sums_;
};

// A weak ranker that gets every pair right would weigh infinitely much.
double weak_weight(double separation) {
    constexpr double kMost = 1 - 1e-6;
    return std::atanh(std::clamp(separation, -kMost, kMost));
}

}  // namespace

template <typename Code>
bool codes_inside(const CodedObjects<Code>& table) {
    bool inside = true;
    for (std::size_t row = 0; row < table.objects; ++row)
        for (std::size_t k = 0; k < table.attributes; ++k) {
            const Code code = table.codes[row * table.attributes + k];
            inside &= code == table.kMissing || static_cast<std::int64_t>(code) < table.bins[k];
        }
    return inside;
}

template <typename Code>
std::vector<WeakRanker> rank_boost(const BoostingSet<Code>& train, const BoostingSet<Code>& held,
                                   const BoostingRounds& rounds, Interruption& interruption) {
    PairWeights weights(train.orders), held_weights(held.orders);
    Histograms<Code> histograms(train.table);
    const Histograms<Code> held_codes(held.table);
    std::vector<double> potential(weights.rows()), unused(held_weights.rows());
    std::vector<std::uint8_t> chosen;
    std::vector<WeakRanker> found;
    double least = std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    while (found.size() < rounds.most && found.size() - kept < rounds.patience) {
        const double total = weights.potential(potential.data());
        auto [weak, gain] = histograms.best(potential.data(), interruption);
        if (weak.attribute < 0 || !(total > 0)) break;
        weak.weight = rounds.learning_rate * weak_weight(gain / total);
        found.push_back(weak);
        histograms.choose(weak, chosen);
        weights.raise(chosen, weak.weight);
        double loss = -static_cast<double>(found.size());  // without held-out pairs all count
        if (held.orders.groups.count > 0) {
            held_codes.choose(weak, chosen);
            held_weights.raise(chosen, weak.weight);
            loss = held_weights.potential(unused.data());
        }
        if (loss < least) {
            least = loss;
            kept = found.size();
        }
    }
    found.resize(kept);
    return found;
}

template bool codes_inside(const CodedObjects<std::uint8_t>&);
template bool codes_inside(const CodedObjects<std::uint32_t>&);
template std::vector<WeakRanker> rank_boost(const BoostingSet<std::uint8_t>&,
                                            const BoostingSet<std::uint8_t>&, const BoostingRounds&,
                                            Interruption&);
template std::vector<WeakRanker> rank_boost(const BoostingSet<std::uint32_t>&,
                                            const BoostingSet<std::uint32_t>&,
                                            const BoostingRounds&, Interruption&);

}  // namespace prefero
