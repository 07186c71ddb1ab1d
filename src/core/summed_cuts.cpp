#include "core/summed_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/categories.hpp"

namespace prefero {

namespace {

double square(const double* begin, const double* end) {
    double squares = 0;
    for (; begin != end; ++begin) squares += *begin * *begin;
    return squares;
}

}  // namespace

bool SummedSpread::pure(const double* total) const {
    if (!signs)
        return vectors_agree(square(total + kVector, total + width), total[kLength],
                             total[kWeightSum]);
    double agreement = 0;
    for (std::size_t i = kVector; i < width; ++i) agreement += std::fabs(total[i]);
    return signs_agree(agreement, total[kLength]);
}

double SummedSpread::quality(const double* left, const double* total) const {
    const double w = total[kWeightSum], here = left[kWeightSum];
    double squares = 0;
    for (std::size_t i = kVector; i < width; ++i) {
        const double difference = w * left[i] - here * total[i];
        squares += difference * difference;
    }
    return static_cast<float>(squares / (w * here * (w - here)));
}

bool SummedSpread::accepts(double quality, const double* total) const {
    const double weight = total[kWeightSum];
    Similarity node;
    if (rules.gamma > 0)
        node = rules.similarity(square(total + kVector, total + width), total[kLength] / rules.unit,
                                weight);
    return rules.accepts(quality, weight, node);
}

double SummedNewton::gain(const double* sums) const {
    double gains = 0;
    for (std::size_t j = 0; j < labels(); ++j)
        gains += newton_gain(sums[kFirst + j], std::max(sums[kFirst + labels() + j], 0.0), penalty);
    return gains;
}

double SummedNewton::quality(const double* left, const double* total) const {
    double here = 0, there = 0;
    for (std::size_t j = kFirst; j < kFirst + labels(); ++j) {
        const std::size_t k = j + labels();
        here += newton_gain(left[j], std::max(left[k], 0.0), penalty);
        there += newton_gain(total[j] - left[j], std::max(total[k] - left[k], 0.0), penalty);
    }
    return here + there;
}

namespace {

using Sums = std::vector<double>;

void add(Sums& to, const double* what) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

// The bins that hold rows, in ascending order, and their sums.
struct FilledBins {
    const double* sums;
    std::size_t width;
    std::vector<std::uint8_t> order;

    FilledBins(const double* all, std::size_t each, std::size_t filled) : sums(all), width(each) {
        for (std::size_t bin = 0; bin < kBins; ++bin)
            if (all[bin * each + filled] > 0) order.push_back(static_cast<std::uint8_t>(bin));
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
template <class Criterion>
void try_cuts(const Criterion& criterion, const FilledBins& bins, const Sums& total,
              double min_leaf, bool missing_left, SummedCut& best, double* best_left) {
    const std::size_t count = bins.order.size();
    Sums left(bins.width);
    if (missing_left) add(left, bins[count - 1]);
    for (std::size_t k = 0; k + 1 + (missing_left ? 1 : 0) < count; ++k) {
        add(left, bins[k]);
        const double size = left[kExampleSum];
        if (size < min_leaf) continue;
        if (total[kExampleSum] - size < min_leaf) break;
        const double quality = criterion.quality(left.data(), total.data());
        if (!(quality > best.quality)) continue;
        best.quality = quality;
        best.cut.left = bins.order[k];
        best.cut.right = bins.order[k + 1];
        best.cut.missing_left = missing_left;
        std::copy(left.begin(), left.end(), best_left);
    }
}

template <class Criterion>
std::vector<std::size_t> order_of_bins(const Criterion& criterion, const FilledBins& bins,
                                       bool sets) {
    const std::size_t count = bins.order.size(), width = bins.width;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!sets || count <= 2) return order;
    Sums own(count * width);
    for (std::size_t k = 0; k < count; ++k) std::copy_n(bins[k], width, &own[k * width]);
    return order_of_categories(own.data(), count, width, criterion.vector_begin(),
                               criterion.vector_end());
}

// Each category against the rest or, as sets, each set of neighbours in their order.
template <class Criterion>
void try_categories(const Criterion& criterion, const FilledBins& bins, const Sums& total,
                    ChildLimits limits, SummedCut& best, double* best_left) {
    const bool sets = limits.category_sets;
    const std::vector<std::size_t> order = order_of_bins(criterion, bins, sets);
    Sums here(bins.width);
    BinSet tried;
    float most = -std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k + (sets ? 1 : 0) < order.size(); ++k) {
        if (!sets) {
            std::fill(here.begin(), here.end(), 0.0);
            tried = BinSet{};
        }
        add(here, bins[order[k]]);
        tried.insert(bins.order[order[k]]);
        const double size = here[kExampleSum];
        if (size < limits.min_leaf || total[kExampleSum] - size < limits.min_leaf) continue;
        const double quality = criterion.quality(here.data(), total.data());
        // Rounded, a set and the rest of two categories are found equal: the first is taken.
        if (!(static_cast<float>(quality) > most)) continue;
        most = static_cast<float>(quality);
        best.quality = quality;
        best.left = tried;
        std::copy(here.begin(), here.end(), best_left);
    }
    best.cut.missing_left = best.left.contains(kMissingBin);
}

}  // namespace

template <class Criterion>
SummedCut best_summed_cut(const Criterion& criterion, const double* sums, bool categorical,
                          ChildLimits limits, double* left) {
    const FilledBins bins(sums, criterion.width, Criterion::kFilled);
    SummedCut best;
    best.varies = bins.order.size() > 1;
    if (!best.varies) return best;
    best.cut.missing_seen = bins.missing();
    const Sums total = bins.total();
    if (categorical) {
        try_categories(criterion, bins, total, limits, best, left);
    } else {
        try_cuts(criterion, bins, total, limits.min_leaf, false, best, left);
        if (bins.missing()) try_cuts(criterion, bins, total, limits.min_leaf, true, best, left);
    }
    return best;
}

std::vector<std::size_t> order_of_categories(const double* sums, std::size_t count,
                                             std::size_t width, std::size_t begin,
                                             std::size_t end) {
    // Floats, as the grower has them: categories that it finds alike are alike here.
    const std::vector<float> rounded(sums, sums + count * width);
    return order_categories({rounded.data(), count, width, begin, end});
}

template SummedCut best_summed_cut(const SummedSpread&, const double*, bool, ChildLimits, double*);
template SummedCut best_summed_cut(const SummedNewton&, const double*, bool, ChildLimits, double*);

}  // namespace prefero
