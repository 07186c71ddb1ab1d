#include "core/rank_boost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prefero {

namespace {

// Products of two such exponentials stay finite.
constexpr double kLargestExponent = 300;

double bounded_exp(double x) {
    return std::exp(std::clamp(x, -kLargestExponent, kLargestExponent));
}

// Adds to the potential of each object, visited from one end of its group to the other, its
// own factor times the sum of the factors of all objects on earlier levels. Returns the total.
template <typename Iterator, typename Own, typename Other>
double add_pairs(Iterator begin, Iterator end, const std::int64_t* levels, Own own, Other other,
                 double sign, double* potential) {
    double earlier = 0, total = 0;
    for (Iterator bucket = begin; bucket != end;) {
        Iterator row = bucket;
        double here = 0;
        for (; row != end && levels[*row] == levels[*bucket]; ++row) {
            const double weight = own(*row) * earlier;
            potential[*row] += sign * weight;
            total += weight;
            here += other(*row);
        }
        earlier += here;
        bucket = row;
    }
    return total;
}

}  // namespace

double pair_potential(const double* scores, const std::int64_t* levels,
                      const std::int64_t* by_level, Groups groups, double* potential) {
    std::fill(potential, potential + groups.begin(groups.count), 0.0);
    double total = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
        const std::int64_t* begin = by_level + groups.begin(g);
        const std::int64_t* end = by_level + groups.begin(g + 1);
        if (end - begin < 2) continue;
        const auto [low, high] = std::minmax_element(
            begin, end, [scores](auto a, auto b) { return scores[a] < scores[b]; });
        const double middle = (scores[*low] + scores[*high]) / 2;
        const auto up = [=](std::int64_t row) { return bounded_exp(scores[row] - middle); };
        const auto down = [=](std::int64_t row) { return bounded_exp(middle - scores[row]); };
        total += add_pairs(begin, end, levels, up, down, -1, potential);
        add_pairs(std::make_reverse_iterator(end), std::make_reverse_iterator(begin), levels, down,
                  up, +1, potential);
    }
    return total;
}

template <typename Code>
WeakRanker best_weak_ranker(CodedAttributes<Code> table, const double* potential) {
    WeakRanker best;
    std::vector<double> histogram;
    const auto consider = [&best](std::size_t attribute, std::size_t bins_below, bool missing,
                                  double gain) {
        if (std::fabs(gain) > std::fabs(best.gain))
            best = {static_cast<std::int64_t>(attribute), static_cast<std::int64_t>(bins_below) - 1,
                    missing, gain};
    };
    for (std::size_t k = 0; k < table.attributes; ++k) {
        const auto bins = static_cast<std::size_t>(table.bins[k]);
        const Code* codes = table.codes + k * table.objects;
        histogram.assign(bins + 1, 0.0);
        for (std::size_t i = 0; i < table.objects; ++i) histogram[codes[i]] += potential[i];
        const double missing = histogram[bins];
        double above = 0;
        for (std::size_t bin = bins; bin-- > 1;) {
            above += histogram[bin];
            consider(k, bin, false, above);
            if (missing != 0) consider(k, bin, true, above + missing);
        }
        if (missing != 0) consider(k, 0, false, above + histogram[0]);
    }
    return best;
}

template WeakRanker best_weak_ranker(CodedAttributes<std::uint8_t>, const double*);
template WeakRanker best_weak_ranker(CodedAttributes<std::uint32_t>, const double*);

}  // namespace prefero
