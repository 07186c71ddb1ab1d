#include "core/mallows.hpp"

#include <limits>
#include <utility>

#include "core/mallows_fitter.hpp"

namespace prefero {

namespace {

// Terms of the moments are differences of two functions with a pole at 0. Below this theta
// the poles are left out on both sides; above it the plain form loses nothing.
constexpr double kSmallTheta = 1.0;
constexpr double kSmallArgument = 0.5;

// 1/x - 1/(e^x - 1) and minus its derivative, without cancellation at 0.
DistanceMoments without_pole(double x) {
    if (x < kSmallArgument) {
        const double s = x * x;
        const double mean =
            0.5 -
            x * (1.0 / 12 -
                 s * (1.0 / 720 - s * (1.0 / 30240 -
                                       s * (1.0 / 1209600 - s * (1.0 / 47900160 -
                                                                 s * (691.0 / 1307674368000 -
                                                                      s * (1.0 / 74724249600)))))));
        const double variance =
            1.0 / 12 -
            s * (3.0 / 720 -
                 s * (5.0 / 30240 -
                      s * (7.0 / 1209600 - s * (9.0 / 47900160 - s * (11 * 691.0 / 1307674368000 -
                                                                      s * (13.0 / 74724249600))))));
        return {mean, variance};
    }
    const double q = std::exp(-x), rest = -std::expm1(-x);
    return {1 / x - q / rest, 1 / (x * x) - q / (rest * rest)};
}

}  // namespace

double mallows_log_normalizer(double theta, std::size_t labels) {
    double sum = 0;
    for (std::size_t j = 2; j <= labels; ++j) {
        const auto size = static_cast<double>(j);
        sum +=
            theta > 0 ? std::log(std::expm1(-size * theta) / std::expm1(-theta)) : std::log(size);
    }
    return sum;
}

DistanceMoments mallows_moments(double theta, std::size_t labels) {
    DistanceMoments sum{0, 0};
    if (theta < kSmallTheta) {
        const DistanceMoments one = without_pole(theta);
        for (std::size_t j = 2; j <= labels; ++j) {
            const auto size = static_cast<double>(j);
            const DistanceMoments term = without_pole(size * theta);
            sum.mean += size * term.mean - one.mean;
            sum.variance += size * size * term.variance - one.variance;
        }
        return sum;
    }
    const double q = std::exp(-theta);
    double power = q;
    for (std::size_t j = 2; j <= labels; ++j) {
        const auto size = static_cast<double>(j);
        power *= q;
        sum.mean += q / (1 - q) - size * power / (1 - power);
        sum.variance += q / ((1 - q) * (1 - q)) - size * size * power / ((1 - power) * (1 - power));
    }
    return sum;
}

void mallows_pairwise(const std::int64_t* center, double theta, std::size_t labels,
                      double* probability) {
    // With d places between them, h(d + 1) - h(d) for h(k) = k / (1 - e^(-k theta)).
    std::vector<double> first_wins(labels, 1.0);
    if (!std::isinf(theta))
        for (std::size_t d = 0; d < labels; ++d) {
            const auto k = static_cast<double>(d);
            first_wins[d] =
                1 + k * without_pole(k * theta).mean - (k + 1) * without_pole((k + 1) * theta).mean;
        }
    for (std::size_t i = 0; i < labels; ++i)
        for (std::size_t j = 0; j < labels; ++j) {
            const std::int64_t d = center[j] - center[i];
            const double first = first_wins[static_cast<std::size_t>(d < 0 ? -d : d)];
            *probability++ = d > 0 ? first : d < 0 ? 1 - first : 0.5;
        }
}

double mallows_theta(double mean_distance, std::size_t labels) {
    const double uniform = uniform_mean_distance(labels);
    if (!(mean_distance > 0)) return std::numeric_limits<double>::infinity();
    if (mean_distance >= uniform) return 0;
    // ln(uniform / mean) is nearly linear in theta, so Newton's steps on it hardly miss; the
    // bracket catches those that do.
    const double target = std::log(uniform / mean_distance);
    double low = 0, high = std::numeric_limits<double>::infinity(), theta = target;
    for (int step = 0; step < 100; ++step) {
        const DistanceMoments moments = mallows_moments(theta, labels);
        if (!(moments.mean > 0)) break;
        const double miss = std::log(uniform / moments.mean) - target;
        (miss > 0 ? high : low) = theta;
        double next = theta - miss * moments.mean / moments.variance;
        if (!(next > low && next < high)) next = std::isinf(high) ? 2 * theta : (low + high) / 2;
        const double change = std::fabs(next - theta);
        theta = next;
        if (change <= 1e-15 * (1 + theta)) break;
    }
    return theta;
}

ThetaTable::ThetaTable(std::size_t labels)
    : uniform_mean_(uniform_mean_distance(labels)),
      scale_(1 / uniform_mean_),
      tail_(static_cast<double>(labels) - 1),
      cubics_(kPieces) {
    if (labels < 2) return;
    // The mean falls by the variance as theta grows.
    const auto knot = [&](double share) {
        const double theta = share < 1 ? mallows_theta(uniform_mean_ * share, labels) : 0;
        return std::pair{theta, -uniform_mean_ / mallows_moments(theta, labels).variance};
    };
    auto [theta, slope] = knot(std::ldexp(1.0, -kOctaves));
    for (std::size_t k = 0; k < kPieces; ++k) {
        const double width = std::ldexp(1.0 / 16, static_cast<int>(k / 16) - kOctaves);
        const auto [next_theta, next_slope] = knot((17 + static_cast<double>(k % 16)) * width);
        const double rise = next_theta - theta, here = width * slope, there = width * next_slope;
        cubics_[k] = {theta, here, 3 * rise - 2 * here - there, here + there - 2 * rise};
        theta = next_theta;
        slope = next_slope;
    }
}

void fit_mallows_batch(RankMatrix ranks, Neighborhoods sets, std::size_t max_rounds, double* votes,
                       double* theta, Interruption& interruption) {
    MallowsFitter fit(ranks);
    for (std::size_t q = 0; q < sets.count; ++q) {
        const std::size_t size = sets.size(q);
        const auto first = sets.starts[q];
        const MallowsFitter::Distance found =
            fit({sets.rows + first, sets.weights + first, size}, max_rounds,
                votes + q * ranks.labels, interruption);
        theta[q] = found.weight > 0 ? mallows_theta(found.sum / found.weight, ranks.labels) : 0;
    }
}

}  // namespace prefero
