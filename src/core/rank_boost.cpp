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
template <typename Iterator>
double add_pairs(Iterator begin, Iterator end, const std::int64_t* levels, const double* own,
                 const double* other, double sign, double* potential) {
    double earlier = 0, total = 0;
    for (Iterator bucket = begin; bucket != end;) {
        Iterator row = bucket;
        double here = 0;
        for (; row != end && levels[*row] == levels[*bucket]; ++row) {
            const double weight = own[*row] * earlier;
            potential[*row] += sign * weight;
            total += weight;
            here += other[*row];
        }
        earlier += here;
        bucket = row;
    }
    return total;
}

// Sums potentials by code. Neighbours go to two histograms, so that one sum need not wait for
// the other when their codes are equal.
template <typename Code>
void fill_histogram(const Code* codes, const double* potential, std::size_t objects,
                    std::size_t bins, std::vector<double>& histogram) {
    histogram.assign(2 * bins, 0.0);
    double *even = histogram.data(), *odd = even + bins;
    std::size_t i = 0;
    for (; i + 1 < objects; i += 2) {
        even[codes[i]] += potential[i];
        odd[codes[i + 1]] += potential[i + 1];
    }
    if (i < objects) even[codes[i]] += potential[i];
    for (std::size_t bin = 0; bin < bins; ++bin) even[bin] += odd[bin];
}

}  // namespace

double pair_potential(const double* scores, const std::int64_t* levels,
                      const std::int64_t* by_level, Groups groups, double* potential) {
    const std::size_t rows = groups.begin(groups.count);
    std::vector<double> up(rows), down(rows);
    std::fill(potential, potential + rows, 0.0);
    double total = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
        if (groups.size(g) < 2) continue;
        const std::size_t first = groups.begin(g), last = groups.begin(g + 1);
        const auto [low, high] = std::minmax_element(scores + first, scores + last);
        const double middle = (*low + *high) / 2;
        for (std::size_t row = first; row < last; ++row) {
            up[row] = bounded_exp(scores[row] - middle);
            down[row] = 1 / up[row];
        }
        const std::int64_t *begin = by_level + first, *end = by_level + last;
        total += add_pairs(begin, end, levels, up.data(), down.data(), -1, potential);
        add_pairs(std::make_reverse_iterator(end), std::make_reverse_iterator(begin), levels,
                  down.data(), up.data(), +1, potential);
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
        fill_histogram(codes, potential, table.objects, bins + 1, histogram);
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

template <typename Code>
bool codes_inside(CodedAttributes<Code> table) {
    for (std::size_t k = 0; k < table.attributes; ++k) {
        const Code* codes = table.codes + k * table.objects;
        Code largest = 0;
        for (std::size_t i = 0; i < table.objects; ++i) largest = std::max(largest, codes[i]);
        if (static_cast<std::int64_t>(largest) > table.bins[k]) return false;
    }
    return true;
}

template bool codes_inside(CodedAttributes<std::uint8_t>);
template bool codes_inside(CodedAttributes<std::uint32_t>);
template WeakRanker best_weak_ranker(CodedAttributes<std::uint8_t>, const double*);
template WeakRanker best_weak_ranker(CodedAttributes<std::uint32_t>, const double*);

}  // namespace prefero
