// The Mallows distribution P(ranking) = exp(-theta D(ranking, center)) / phi(theta), with D
// Kendall's distance: its moments, and its parameters from samples.
#pragma once

#include <cmath>
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

// The same for one number of labels by interpolation, to a relative 1e-5 or better: for callers
// that ask millions of times. With y = ln(uniform mean / mean), theta is almost linear in y.
class ThetaTable {
  public:
    explicit ThetaTable(std::size_t labels);

    double operator()(double mean_distance) const {
        if (mean_distance >= uniform_mean_) return mean_distance > 0 ? 0.0 : HUGE_VAL;
        const double y = std::log(uniform_mean_ / mean_distance) * kKnotsPerUnit;
        // Far out the mean is (c - 1) e^-theta.
        if (!(y < kKnots - 1)) return std::log(tail_ / mean_distance);
        const auto knot = static_cast<std::size_t>(y);
        const double t = y - static_cast<double>(knot), s = 1 - t;
        const Knot &a = knots_[knot], &b = knots_[knot + 1];
        return s * s * ((1 + 2 * t) * a.theta + t * a.slope) +
               t * t * ((1 + 2 * s) * b.theta - s * b.slope);
    }

  private:
    static constexpr int kKnotsPerUnit = 32;
    static constexpr int kKnots = 16 * kKnotsPerUnit + 1;
    struct Knot {
        double theta;
        double slope;  // a knot
    };
    double uniform_mean_, tail_;
    std::vector<Knot> knots_;
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
