#include "core/pair_votes.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/mallows.hpp"

namespace prefero {

namespace {

// The weight that orders each pair of labels (0,1), (0,2), ..., (c-2,c-1), and for whom.
class PairWeights {
  public:
    explicit PairWeights(std::size_t labels)
        : margin_(pair_count(labels)), seen_(pair_count(labels)) {}

    void clear() {
        std::fill(margin_.begin(), margin_.end(), 0.0);
        std::fill(seen_.begin(), seen_.end(), 0.0);
        total_ = 0;
    }

    void add(const std::int8_t* signs, double weight) {
        for (std::size_t p = 0; p < margin_.size(); ++p) {
            const double sign = signs[p];
            margin_[p] += weight * sign;
            seen_[p] += weight * sign * sign;
        }
        total_ += weight;
    }

    // sums[i * c + j] becomes the margin (or share) of label i over label j, 0 if negative.
    void write_margins(std::size_t labels, double* sums) const {
        const double* margin = margin_.data();
        for (std::size_t i = 0; i < labels; ++i) {
            sums[i * labels + i] = 0;
            for (std::size_t j = i + 1; j < labels; ++j, ++margin) {
                sums[i * labels + j] = std::max(*margin, 0.0);
                sums[j * labels + i] = std::max(-*margin, 0.0);
            }
        }
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
    std::vector<double> margin_, seen_;
    double total_ = 0;
};

// The pair signs of rows that many sets hold: decoded once, unless that takes too much memory.
class SignRows {
  public:
    explicit SignRows(RankMatrix ranks) : ranks_(ranks), pairs_(pair_count(ranks.labels)) {
        kept_ = ranks.rows * pairs_ <= kMostBytes;
        signs_.resize(kept_ ? ranks.rows * pairs_ : pairs_);
        for (std::size_t i = 0; kept_ && i < ranks.rows; ++i) decode(i, signs_.data() + i * pairs_);
    }

    const std::int8_t* row(std::size_t i) {
        if (kept_) return signs_.data() + i * pairs_;
        decode(i, signs_.data());
        return signs_.data();
    }

  private:
    static constexpr std::size_t kMostBytes = std::size_t{1} << 26;

    void decode(std::size_t i, std::int8_t* signs) const {
        pair_signs(ranks_.row(i), ranks_.labels, signs);
    }

    RankMatrix ranks_;
    std::size_t pairs_;
    bool kept_;
    std::vector<std::int8_t> signs_;
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

// The order of the votes, improved by moving labels; its buffers serve one set after another.
class LocalSearch {
  public:
    explicit LocalSearch(std::size_t labels) : margins_(labels * labels), order_(labels) {}

    void operator()(PairWeights& pairs, double prior, double* votes) {
        const std::size_t labels = order_.size();
        sum_shares(pairs.shares(prior), labels, votes);
        pairs.write_margins(labels, margins_.data());
        for (std::size_t i = 0; i < labels; ++i) order_[i] = static_cast<std::int64_t>(i);
        std::stable_sort(order_.begin(), order_.end(),
                         [votes](std::int64_t a, std::int64_t b) { return votes[a] > votes[b]; });
        improve_order(margins_.data(), labels, order_.data());
        for (std::size_t place = 0; place < labels; ++place)
            votes[order_[place]] = static_cast<double>(labels - place);
    }

  private:
    std::vector<double> margins_;
    std::vector<std::int64_t> order_;
};

template <typename Use>
void for_each_set(RankMatrix ranks, Neighborhoods sets, Interruption& interruption, Use use) {
    PairWeights pairs(ranks.labels);
    SignRows signs(ranks);
    for (std::size_t q = 0; q < sets.count; ++q) {
        pairs.clear();
        interruption.spend((1 + sets.size(q)) * ranks.labels * ranks.labels);
        for (std::int64_t member = sets.starts[q]; member < sets.starts[q + 1]; ++member)
            pairs.add(signs.row(static_cast<std::size_t>(sets.rows[member])), sets.weights[member]);
        use(q, pairs);
    }
}

}  // namespace

void pair_votes_batch(RankMatrix ranks, Neighborhoods sets, double prior, double* votes,
                      double* theta, Interruption& interruption) {
    const std::size_t labels = ranks.labels;
    std::optional<ThetaTable> theta_of;  // which takes longer to make than many votes
    if (theta != nullptr) theta_of.emplace(labels);
    for_each_set(ranks, sets, interruption, [&](std::size_t q, PairWeights& pairs) {
        double* own = votes + q * labels;
        const double* share = pairs.shares(prior);
        sum_shares(share, labels, own);
        if (theta_of) theta[q] = (*theta_of)(expected_distance(share, own, labels));
    });
}

void kemeny_batch(RankMatrix ranks, Neighborhoods sets, double prior, double* votes,
                  Interruption& interruption) {
    LocalSearch search(ranks.labels);
    for_each_set(ranks, sets, interruption, [&](std::size_t q, PairWeights& pairs) {
        search(pairs, prior, votes + q * ranks.labels);
    });
}

void left_out_votes(RankMatrix ranks, const double* weights, LeftOut cases, double prior,
                    bool kemeny, double* votes, Interruption& interruption) {
    const std::size_t labels = ranks.labels;
    SignRows signs(ranks);
    PairWeights all(labels);
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        interruption.spend(labels * labels);
        all.add(signs.row(i), weights[i]);
    }
    LocalSearch search(labels);
    for (std::size_t q = 0; q < cases.count; ++q) {
        const auto row = static_cast<std::size_t>(cases.rows[q]);
        interruption.spend(2 * labels * labels);
        PairWeights others = all;
        others.add(signs.row(row), -std::min(weights[row], 1.0));
        if (kemeny)
            search(others, prior, votes + q * labels);
        else
            sum_shares(others.shares(prior), labels, votes + q * labels);
    }
}

}  // namespace prefero
