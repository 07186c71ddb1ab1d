#include "core/levels.hpp"

#include <algorithm>
#include <vector>

namespace prefero {

template <class Number>
void add_histograms(const LevelRows<Number>& rows, OpenNodes open, double* sums,
                    Interruption& interruption) {
    const std::size_t width = rows.width;
    for (std::size_t r = 0; r < rows.bins.rows; ++r) {
        const std::int32_t place = open.places[rows.leaves[r]];
        if (place < 0 || rows.drawn[r] == 0) continue;
        interruption.spend(open.asked * (width + 4));
        const double times = rows.drawn[r];
        const Number* lanes = rows.lanes + r * rows.stride;
        const std::uint8_t* bins = rows.bins.data + r * rows.bins.features;
        const auto node = static_cast<std::size_t>(place) * open.asked;
        for (std::size_t k = 0; k < open.asked; ++k) {
            const std::uint16_t feature = open.features[node + k];
            if (feature == kNoFeature) continue;
            double* to = sums + ((node + k) * kBins + bins[feature]) * width;
            for (std::size_t i = 0; i < width; ++i) to[i] += times * double{lanes[i]};
        }
    }
}

template <class Number>
void add_leaves(const LevelRows<Number>& rows, double* sums, Interruption& interruption) {
    for (std::size_t r = 0; r < rows.bins.rows; ++r) {
        if (rows.drawn[r] == 0) continue;
        interruption.spend(rows.width);
        const double times = rows.drawn[r];
        const Number* lanes = rows.lanes + r * rows.stride;
        double* to = sums + static_cast<std::size_t>(rows.leaves[r]) * rows.width;
        for (std::size_t i = 0; i < rows.width; ++i) to[i] += times * double{lanes[i]};
    }
}

namespace {

using Sums = std::vector<double>;

void add(Sums& to, const double* what) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

// As the criterion of vectors has it, in doubles and rounded: equal cuts are found equal.
float quality(const Sums& left, const Sums& total) {
    const double w = total[kLevelWeight], here = left[kLevelWeight];
    double squares = 0;
    for (std::size_t i = kLevelVector; i < left.size(); ++i) {
        const double difference = w * left[i] - here * total[i];
        squares += difference * difference;
    }
    return static_cast<float>(squares / (w * here * (w - here)));
}

// The bins that hold rows, in ascending order, and their sums.
struct FilledBins {
    const double* sums;
    std::size_t width;
    std::vector<std::uint8_t> order;

    const double* operator[](std::size_t k) const { return sums + order[k] * width; }
};

// Tries the cuts after each bin; with missing values, whose bin is the last, left of all if asked.
void try_cuts(const FilledBins& bins, const Sums& total, double min_leaf, bool missing_left,
              Cut& best, double* best_left) {
    const std::size_t count = bins.order.size();
    Sums left(bins.width);
    if (missing_left) add(left, bins[count - 1]);
    for (std::size_t k = 0; k + 1 + (missing_left ? 1 : 0) < count; ++k) {
        add(left, bins[k]);
        const double size = left[kLevelExamples];
        if (size < min_leaf) continue;
        if (total[kLevelExamples] - size < min_leaf) break;
        const float found = quality(left, total);
        if (!(found > best.quality)) continue;
        best = {found, bins.order[k], bins.order[k + 1], missing_left};
        std::copy(left.begin(), left.end(), best_left);
    }
}

}  // namespace

LevelCut best_level_cut(const double* sums, std::size_t width, double min_leaf, double* left) {
    FilledBins bins{sums, width, {}};
    Sums total(width);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (!(sums[bin * width + kLevelWeight] > 0)) continue;
        bins.order.push_back(static_cast<std::uint8_t>(bin));
        add(total, sums + bin * width);
    }
    LevelCut found;
    found.varies = bins.order.size() > 1;
    if (!found.varies) return found;
    const bool missing = bins.order.back() == kMissingBin;
    try_cuts(bins, total, min_leaf, false, found.cut, left);
    if (missing) try_cuts(bins, total, min_leaf, true, found.cut, left);
    found.cut.missing_seen = missing;
    return found;
}

template void add_histograms(const LevelRows<float>&, OpenNodes, double*, Interruption&);
template void add_histograms(const LevelRows<double>&, OpenNodes, double*, Interruption&);
template void add_leaves(const LevelRows<float>&, double*, Interruption&);
template void add_leaves(const LevelRows<double>&, double*, Interruption&);

}  // namespace prefero
