#include "core/pair_votes.hpp"

#include <algorithm>
#include <vector>

#include "core/mallows.hpp"

namespace prefero {

namespace {

// The weight that orders each pair of labels (0,1), (0,2), ..., (c-2,c-1), and for whom.
class PairWeights {
  public:
    explicit PairWeights(std::size_t labels)
        : signs_(pair_count(labels)), margin_(pair_count(labels)), seen_(pair_count(labels)) {}

    void clear() {
        std::fill(margin_.begin(), margin_.end(), 0.0);
        std::fill(seen_.begin(), seen_.end(), 0.0);
        total_ = 0;
    }

    void add(const double* ranks, std::size_t labels, double weight) {
        pair_signs(ranks, labels, signs_.data());
        for (std::size_t p = 0; p < signs_.size(); ++p) {
            const double sign = signs_[p];
            margin_[p] += weight * sign;
            seen_[p] += weight * sign * sign;
        }
        total_ += weight;
    }

    // Replaces the margins by shares of the weight seen.
    const double* shares(double prior) {
        for (std::size_t p = 0; p < margin_.size(); ++p) {
            const double all = seen_[p] + prior * total_;
            margin_[p] = all > 0 ? margin_[p] / all : 0;
        }
        return margin_.data();
    }

  private:
    std::vector<std::int8_t> signs_;
    std::vector<double> margin_, seen_;
    double total_ = 0;
};

void sum_shares(const double* share, std::size_t labels, double* votes) {
    std::fill(votes, votes + labels, 0.0);
    for (std::size_t i = 0; i + 1 < labels; ++i)
        for (std::size_t j = i + 1; j < labels; ++j, ++share) {
            votes[i] += *share;
            votes[j] -= *share;
        }
    const double middle = static_cast<double>(labels + 1) / 2;
    for (std::size_t i = 0; i < labels; ++i)
        votes[i] = mean_votes(middle + votes[i] / 2, 1, labels);
}

// Expected discordant pairs with the order of the votes; equal votes go by index.
double expected_distance(const double* share, const double* votes, std::size_t labels) {
    double distance = 0;
    for (std::size_t i = 0; i + 1 < labels; ++i)
        for (std::size_t j = i + 1; j < labels; ++j, ++share)
            distance += (1 - (votes[i] >= votes[j] ? *share : -*share)) / 2;
    return distance;
}

}  // namespace

void pair_votes_batch(RankMatrix ranks, Neighborhoods sets, double prior, double* votes,
                      double* theta) {
    const std::size_t labels = ranks.labels;
    const ThetaTable theta_of(labels);
    PairWeights pairs(labels);
    for (std::size_t q = 0; q < sets.count; ++q, votes += labels) {
        pairs.clear();
        for (std::int64_t member = sets.starts[q]; member < sets.starts[q + 1]; ++member)
            pairs.add(ranks.row(static_cast<std::size_t>(sets.rows[member])), labels,
                      sets.weights[member]);
        const double* share = pairs.shares(prior);
        sum_shares(share, labels, votes);
        theta[q] = theta_of(expected_distance(share, votes, labels));
    }
}

}  // namespace prefero
