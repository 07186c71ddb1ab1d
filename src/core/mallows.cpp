#include "core/mallows.hpp"

#include <algorithm>
#include <limits>

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
      tail_(static_cast<double>(labels) - 1),
      knots_(kKnots) {
    if (labels < 2) return;
    for (int k = 0; k < kKnots; ++k) {
        const double y = static_cast<double>(k) / kKnotsPerUnit;
        const double theta = mallows_theta(uniform_mean_ * std::exp(-y), labels);
        const DistanceMoments moments = mallows_moments(theta, labels);
        knots_[static_cast<std::size_t>(k)] = {theta,
                                               moments.mean / moments.variance / kKnotsPerUnit};
    }
}

namespace {

// Estimates one neighbourhood after another on the same buffers.
class MallowsFitter {
  public:
    explicit MallowsFitter(RankMatrix ranks)
        : rows_(ranks),
          row_votes_(ranks.rows * ranks.labels),
          center_(ranks.labels),
          extender_(ranks.labels),
          positions_(ranks.labels),
          fixed_(ranks.labels) {
        borda_votes(rows_, ranks.rows, row_votes_.data());
    }

    // Writes the mean votes that the center follows; returns theta.
    double operator()(Neighborhoods sets, std::size_t q, std::size_t max_rounds, double* votes,
                      Interruption& interruption) {
        const std::size_t steps = (1 + sets.size(q)) * labels() * labels();
        interruption.spend(steps);
        collect(sets, q);
        first_votes(votes);
        center_.sort_by(votes);
        if (!(total_ > 0)) return 0;
        if (!incomplete_.empty())
            for (std::size_t round = 0; round < max_rounds; ++round) {
                interruption.spend(steps);
                extension_votes(votes);
                if (!center_.sort_by(votes)) break;
            }
        return mallows_theta(distance() / total_, labels());
    }

  private:
    struct Member {
        std::size_t row;
        double weight;
    };

    std::size_t labels() const { return rows_.labels(); }

    void collect(Neighborhoods sets, std::size_t q) {
        complete_.clear();
        incomplete_.clear();
        total_ = 0;
        for (std::int64_t member = sets.starts[q]; member < sets.starts[q + 1]; ++member) {
            const auto row = static_cast<std::size_t>(sets.rows[member]);
            const std::size_t known = rows_[row].known;
            const double weight =
                sets.weights[member] * static_cast<double>(known) / static_cast<double>(labels());
            if (!(weight > 0)) continue;
            (known == labels() ? complete_ : incomplete_).push_back({row, weight});
            total_ += weight;
        }
    }

    void first_votes(double* votes) {
        std::fill(fixed_.begin(), fixed_.end(), 0.0);
        for (const Member& member : complete_) add_row_votes(member, fixed_.data());
        std::copy(fixed_.begin(), fixed_.end(), votes);
        for (const Member& member : incomplete_) add_row_votes(member, votes);
        finish(votes);
    }

    void add_row_votes(Member member, double* votes) const {
        const double* row = row_votes_.data() + member.row * labels();
        for (std::size_t j = 0; j < labels(); ++j) votes[j] += member.weight * row[j];
    }

    // Borda votes of the complete rankings and of the extensions of the others.
    void extension_votes(double* votes) {
        const auto all = static_cast<double>(labels() + 1);
        std::copy(fixed_.begin(), fixed_.end(), votes);
        for (const Member& member : incomplete_) {
            extender_(rows_[member.row], center_, positions_.data());
            for (std::size_t j = 0; j < labels(); ++j)
                votes[j] += member.weight * (all - positions_[j]);
        }
        finish(votes);
    }

    void finish(double* votes) const {
        for (std::size_t j = 0; j < labels(); ++j)
            votes[j] = mean_votes(votes[j], total_, labels());
    }

    // Weighted sum of the distances between the extensions and the center.
    double distance() {
        double sum = 0;
        for (const Member& member : complete_)
            sum +=
                member.weight * static_cast<double>(discordant_pairs(rows_[member.row], center_));
        for (const Member& member : incomplete_) {
            const OrderedRow row = rows_[member.row];
            const auto inserted = extender_(row, center_, positions_.data());
            sum += member.weight * static_cast<double>(inserted + discordant_pairs(row, center_));
        }
        return sum;
    }

    OrderedRows rows_;
    std::vector<double> row_votes_;
    Center center_;
    Extender extender_;
    std::vector<double> positions_;
    std::vector<double> fixed_;  // votes of the complete rankings, the same in every round
    std::vector<Member> complete_, incomplete_;
    double total_ = 0;
};

}  // namespace

void fit_mallows_batch(RankMatrix ranks, Neighborhoods sets, std::size_t max_rounds, double* votes,
                       double* theta, Interruption& interruption) {
    MallowsFitter fit(ranks);
    for (std::size_t q = 0; q < sets.count; ++q)
        theta[q] = fit(sets, q, max_rounds, votes + q * ranks.labels, interruption);
}

}  // namespace prefero
