#include "core/levels.hpp"

#include <algorithm>
#include <vector>

#include "core/categories.hpp"

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

    FilledBins(const double* all, std::size_t lanes) : sums(all), width(lanes) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            if (all[bin * lanes + kLevelWeight] > 0)
                order.push_back(static_cast<std::uint8_t>(bin));
    }

    const double* operator[](std::size_t k) const { return sums + order[k] * width; }
    bool missing() const { return order.back() == kMissingBin; }

    Sums total() const {
        Sums all(width);
        for (std::size_t k = 0; k < order.size(); ++k) add(all, (*this)[k]);
        return all;
    }
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
    const FilledBins bins(sums, width);
    LevelCut found;
    found.varies = bins.order.size() > 1;
    if (!found.varies) return found;
    const Sums total = bins.total();
    try_cuts(bins, total, min_leaf, false, found.cut, left);
    if (bins.missing()) try_cuts(bins, total, min_leaf, true, found.cut, left);
    found.cut.missing_seen = bins.missing();
    return found;
}

std::vector<std::size_t> order_of_categories(const double* sums, std::size_t count,
                                             std::size_t width, std::size_t begin,
                                             std::size_t end) {
    // Floats, as the grower has them: categories that it finds alike are alike here.
    const std::vector<float> rounded(sums, sums + count * width);
    return order_categories({rounded.data(), count, width, begin, end});
}

LevelCut best_level_categories(const double* sums, std::size_t width, double min_leaf, bool sets,
                               double* left, BinSet& chosen) {
    const FilledBins bins(sums, width);
    const std::size_t count = bins.order.size();
    LevelCut found;
    found.varies = count > 1;
    if (!found.varies) return found;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (sets && count > 2) {
        Sums own(count * width);
        for (std::size_t k = 0; k < count; ++k) std::copy_n(bins[k], width, &own[k * width]);
        order = order_of_categories(own.data(), count, width, kLevelVector, width);
    }
    const Sums total = bins.total();
    Sums here(width);
    BinSet tried;
    for (std::size_t k = 0; k + (sets ? 1 : 0) < count; ++k) {
        if (!sets) {
            std::fill(here.begin(), here.end(), 0.0);
            tried = BinSet{};
        }
        add(here, bins[order[k]]);
        tried.insert(bins.order[order[k]]);
        const double size = here[kLevelExamples];
        if (size < min_leaf || total[kLevelExamples] - size < min_leaf) continue;
        const float gain = quality(here, total);
        if (!(gain > found.cut.quality)) continue;
        found.cut.quality = gain;
        chosen = tried;
        std::copy(here.begin(), here.end(), left);
    }
    found.cut.missing_seen = bins.missing();
    found.cut.missing_left = chosen.contains(kMissingBin);
    return found;
}

template void add_histograms(const LevelRows<float>&, OpenNodes, double*, Interruption&);
template void add_histograms(const LevelRows<double>&, OpenNodes, double*, Interruption&);
template void add_leaves(const LevelRows<float>&, double*, Interruption&);
template void add_leaves(const LevelRows<double>&, double*, Interruption&);

}  // namespace prefero
