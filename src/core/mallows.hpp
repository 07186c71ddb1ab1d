// The Mallows distribution P(ranking) = exp(-theta D(ranking, center)) / phi(theta), with D
// Kendall's distance: its moments, and its parameters from samples.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/aggregate.hpp"
#include "core/interruption.hpp"

namespace prefero {

// ln phi(theta) for 0 <= theta <= infinity.
double mallows_log_normalizer(double theta, std::size_t labels);

struct DistanceMoments {
    double mean;
    double variance;
};

// Of the distance to the center, accurate for 0 <= theta <= infinity.
DistanceMoments mallows_moments(double theta, std::size_t labels);

// P(label i before label j) for all pairs of the labels of a center, given by strict ranks;
// 1/2 on the diagonal.
void mallows_pairwise(const std::int64_t* center, double theta, std::size_t labels,
                      double* probability);

// The mean distance at theta = 0, the largest one that has a maximum-likelihood theta.
inline double uniform_mean_distance(std::size_t labels) {
    return static_cast<double>(pair_count(labels)) / 2;
}

// The theta >= 0 that is most likely given the mean distance: infinity for 0, and 0 for as
// much as the uniform distribution gives or more.
double mallows_theta(double mean_distance, std::size_t labels);

// The same for one number of labels by interpolation, to a relative 1e-6 or better: for callers
// that ask millions of times. A cubic for each sixteenth of each power of two of the mean
// distance, found by the bits of the number: no logarithm.
class ThetaTable {
  public:
    explicit ThetaTable(std::size_t labels);

    double operator()(double mean_distance) const {
        if (mean_distance >= uniform_mean_) return mean_distance > 0 ? 0.0 : HUGE_VAL;
        const double share = mean_distance * scale_;
        std::uint64_t bits;
        std::memcpy(&bits, &share, sizeof bits);
        const std::uint64_t piece = (bits >> kRestBits) - kFirst;
        // Far out the mean is (c - 1) e^-theta.
        if (!(piece < kPieces)) return share < 1 ? std::log(tail_ / mean_distance) : 0.0;
        const double t = static_cast<double>(static_cast<std::int64_t>(bits & kRest)) * kStep;
        const Cubic& cubic = cubics_[piece];
        return cubic[0] + t * (cubic[1] + t * (cubic[2] + t * cubic[3]));
    }

  private:
    using Cubic = std::array<double, 4>;
    static constexpr int kRestBits = 48;  // of a number, behind the sixteenth that it lies in
    static constexpr int kOctaves = 23;
    static constexpr std::uint64_t kPieces = 16 * kOctaves;
    static constexpr std::uint64_t kFirst = std::uint64_t{1023 - kOctaves} << 4;
    static constexpr std::uint64_t kRest = (std::uint64_t{1} << kRestBits) - 1;
    static constexpr double kStep = 1.0 / static_cast<double>(std::uint64_t{1} << kRestBits);

    double uniform_mean_, scale_, tail_;
    std::vector<Cubic> cubics_;
};

// Center and theta of each neighbourhood, by the approximate EM of Cheng et al. 2009, Algorithm
// 1: generalized Borda votes give a first center, incomplete rankings are extended to it, Borda
// votes of the extensions give the next, until it stays or `max_rounds` have passed. A
// ranking of m of the c labels has m/c of its weight. Writes the last mean votes (their
// descending order is the center) and theta, 0 where no weight is. Complete rankings need no
// round.
void fit_mallows_batch(RankMatrix ranks, Neighborhoods sets, std::size_t max_rounds, double* votes,
                       double* theta, Interruption& interruption);

}  // namespace prefero
