#include "core/sample.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace prefero {

void bootstrap_counts(std::uint64_t seed, RowRange range, std::uint16_t* counts) {
    std::fill_n(counts, range.count, std::uint16_t{0});
    Random random(seed);
    const auto rows = static_cast<std::uint32_t>(range.all);
    for (std::uint32_t i = 0; i < rows; ++i) {
        const std::size_t place = random.below(rows) - range.first;  // huge before the range
        if (place < range.count) ++counts[place];
    }
}

void share_counts(std::uint64_t seed, RowRange range, double share, std::uint16_t* counts) {
    constexpr double kNumbers = 18446744073709551616.0;  // 2^64
    const bool all = share >= 1;
    const std::uint64_t below = all ? 0 : static_cast<std::uint64_t>(share * kNumbers);
    const std::uint64_t key = mixed(seed);
    for (std::size_t i = 0; i < range.count; ++i)
        counts[i] = all || mixed(key + kRandomStep * (range.first + i + 1)) < below;
}

void draw_features(Random& random, std::size_t all, std::size_t wanted,
                   std::vector<std::uint16_t>& features) {
    features.resize(all);
    std::iota(features.begin(), features.end(), std::uint16_t{0});
    if (wanted >= all) return;
    for (std::size_t k = 0; k < wanted; ++k)
        std::swap(features[k], features[k + random.below(static_cast<std::uint32_t>(all - k))]);
    features.resize(wanted);
    std::sort(features.begin(), features.end());
}

double Sample::weight(RowSpan span) const {
    double total = 0;
    for (std::uint32_t row : span) total += weights[row];
    return total;
}

void Sample::draw(bool bootstrap, std::uint64_t seed, Interruption& interruption) {
    drawn_.assign(data.rows(), 1);
    if (bootstrap) bootstrap_counts(seed, {0, drawn_.size(), drawn_.size()}, drawn_.data());
    take_drawn(interruption);
    in_shorts_ ? write_shorts(interruption) : write_simd_rows(interruption);
}

void Sample::write_simd_rows(Interruption& interruption) {
    Block* to = simd_rows.data();
    for (std::size_t i = 0; i < rows; ++i) {
        interruption.spend(kSimdWidth * data.width());
        const Eight weight = broadcast(static_cast<float>(weights[i]));
        const Block* from = data.simd_row(origin[i]);
        for (std::size_t k = 0; k < data.width(); ++k) store(*to++, weight * load(from[k]));
    }
}

void Sample::write_shorts(Interruption& interruption) {
    ShortBlock* to = shorts.data();
    double heaviest = 1;
    for (std::size_t i = 0; i < rows; ++i) {
        interruption.spend(kSimdWidth * data.width());
        const Eight weight = broadcast(static_cast<float>(weights[i]));
        const Block* from = data.simd_row(origin[i]);
        for (std::size_t k = 0; k + 1 < data.width(); k += 2)
            store(*to++, by_turns(weight * load(from[k]), weight * load(from[k + 1])));
        if (data.width() % 2)
            store(*to++, by_turns(weight * load(from[data.width() - 1]), broadcast(0)));
        heaviest = std::max(heaviest, weights[i]);
    }
    rows_in_shorts = static_cast<std::size_t>(most_in_shorts() / heaviest);
}

void Sample::draw_share(double share, std::uint64_t seed, Interruption& interruption) {
    Random random(seed);
    drawn_.resize(data.rows());
    auto left = static_cast<std::uint32_t>(data.rows());
    auto wanted = std::max(1u, static_cast<std::uint32_t>(share * left + 0.5));
    for (std::uint16_t& drawn : drawn_) {
        drawn = random.below(left--) < wanted;
        wanted -= drawn;
    }
    take_drawn(interruption);
}

void Sample::take_drawn(Interruption& interruption) {
    origin.resize(data.rows());
    rows = 0;
    for (std::uint32_t r = 0; r < data.rows(); ++r) {  // no branch: it would be a coin toss
        origin[rows] = r;
        rows += static_cast<unsigned>(drawn_[r] > 0) & static_cast<unsigned>(data.weight(r) > 0);
    }
    bins.resize(rows * data.features());
    if (in_shorts_)
        shorts.resize(rows * short_width());
    else
        simd_rows.resize(rows * data.width());
    counts.resize(rows);
    weights.resize(rows);
    double total = 0, least = std::numeric_limits<double>::infinity();
    std::uint8_t* bin = bins.data();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t r = origin[i];
        interruption.spend(data.features());
        copy_few(data.bins(r), data.features(), bin);
        bin += data.features();
        weights[i] = drawn_[r] * data.weight(r);
        counts[i] = data.whole_weights() ? static_cast<std::uint32_t>(weights[i]) : drawn_[r];
        total += weights[i];
        least = std::min(least, weights[i]);
    }
    most_in_floats = least * kMostInFloats;
    counts_in_floats =
        data.whole_weights() && total <= std::min(most_in_floats, 16 * kMostInFloats);
}

void Sample::gather(RowSpan some) {
    constexpr std::size_t kAhead = 16;  // rows that are on their way from memory
    if (held_.size() == depth_) held_.emplace_back();
    Held& to = held_[depth_++];
    to.numbers.assign(some.begin(), some.end());
    to.rows = to.numbers.size();
    to.bins.resize(to.rows * data.features());
    to.simd_rows.resize(in_shorts_ ? 0 : to.rows * data.width());
    to.shorts.resize(in_shorts_ ? to.rows * short_width() : 0);
    to.origin.resize(to.rows);
    to.counts.resize(to.rows);
    to.weights.resize(to.rows);
    std::uint8_t* bin = to.bins.data();
    Block* simd_to = to.simd_rows.data();
    ShortBlock* short_to = to.shorts.data();
    for (std::size_t i = 0; i < to.rows; ++i) {
        const std::uint32_t row = to.numbers[i],
                            later = to.numbers[std::min(i + kAhead, to.rows - 1)];
        prefetch(bins.data() + later * data.features());
        copy_few(bins.data() + row * data.features(), data.features(), bin);
        if (in_shorts_) {
            prefetch(short_row(later));
            for (std::size_t k = 0; k < short_width(); ++k)
                store(*short_to++, load(short_row(row)[k]));
        } else {
            prefetch(simd_row(later));
            for (std::size_t k = 0; k < data.width(); ++k)
                store(*simd_to++, load(simd_row(row)[k]));
        }
        bin += data.features();
        to.origin[i] = origin[row];
        to.counts[i] = counts[row];
        to.weights[i] = weights[row];
    }
    swap_with(to);
}

void Sample::scatter() { swap_with(held_[--depth_]); }

void Sample::swap_with(Held& other) {
    std::swap(rows, other.rows);
    origin.swap(other.origin);
    bins.swap(other.bins);
    simd_rows.swap(other.simd_rows);
    shorts.swap(other.shorts);
    counts.swap(other.counts);
    weights.swap(other.weights);
}

}  // namespace prefero
