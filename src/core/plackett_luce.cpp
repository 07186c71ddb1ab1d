#include "core/plackett_luce.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prefero {

namespace {

// Estimates one neighbourhood after another on the same buffers.
class PlackettLuceFitter {
  public:
    PlackettLuceFitter(RankMatrix ranks, PlackettLuceOptions options)
        : options_(options),
          rows_(ranks),
          worth_(ranks.labels),
          wins_(ranks.labels),
          losses_(ranks.labels),
          left_(ranks.labels) {}

    std::size_t operator()(Neighborhoods sets, std::size_t q, double* log_worth,
                           Interruption& interruption) {
        const std::size_t labels = rows_.labels();
        collect(sets, q);
        std::fill(worth_.begin(), worth_.end(), 1 / static_cast<double>(labels));
        std::size_t round = 0;
        while (round < options_.max_rounds) {
            ++round;
            interruption.spend((1 + members_.size()) * labels);
            if (step() <= options_.tolerance) break;
        }
        for (std::size_t j = 0; j < labels; ++j) log_worth[j] = on_vote_grid(std::log(worth_[j]));
        return round;
    }

  private:
    struct Member {
        OrderedRow row;
        std::size_t decided;  // places before the last bucket
        double weight;
    };

    void collect(Neighborhoods sets, std::size_t q) {
        members_.clear();
        std::fill(wins_.begin(), wins_.end(), options_.prior);
        for (std::int64_t member = sets.starts[q]; member < sets.starts[q + 1]; ++member) {
            const OrderedRow row = rows_[static_cast<std::size_t>(sets.rows[member])];
            const double weight = sets.weights[member];
            std::size_t decided = 0;
            while (decided < row.known && row.bucket_end[decided] < row.known)
                decided = row.bucket_end[decided];
            if (decided == 0 || !(weight > 0)) continue;
            members_.push_back({row, decided, weight});
            for (std::size_t t = 0; t < decided; ++t) wins_[row.label[t]] += weight;
        }
    }

    // One minorise-maximise step; the largest relative change of a worth.
    double step() {
        const auto labels = static_cast<double>(worth_.size());
        std::fill(losses_.begin(), losses_.end(), options_.prior * labels);
        for (const Member& member : members_) add_losses(member);
        double total = 0;
        for (std::size_t j = 0; j < worth_.size(); ++j) {
            losses_[j] = wins_[j] / losses_[j];
            total += losses_[j];
        }
        double change = 0;
        for (std::size_t j = 0; j < worth_.size(); ++j) {
            const double next = losses_[j] / total;
            change = std::max(change, std::fabs(next - worth_[j]) / next);
            worth_[j] = next;
        }
        return change;
    }

    // What the label's worth is divided by: over all choices it stood for, one over the worth
    // of all that stood for it.
    void add_losses(const Member& member) {
        const OrderedRow row = member.row;
        double sum = 0;
        for (std::size_t t = row.known; t-- > 0;) left_[t] = sum += worth_[row.label[t]];
        double share = 0;
        for (std::size_t begin = 0; begin < row.known;) {
            const std::size_t end = row.bucket_end[begin];
            if (begin < member.decided)
                share += member.weight * static_cast<double>(end - begin) / left_[begin];
            for (std::size_t t = begin; t < end; ++t) losses_[row.label[t]] += share;
            begin = end;
        }
    }

    PlackettLuceOptions options_;
    OrderedRows rows_;
    std::vector<double> worth_, wins_, losses_;
    std::vector<double> left_;  // the worth of the labels from each place on
    std::vector<Member> members_;
};

}  // namespace

void fit_plackett_luce_batch(RankMatrix ranks, Neighborhoods sets, PlackettLuceOptions options,
                             double* log_worth, std::int64_t* rounds, Interruption& interruption) {
    PlackettLuceFitter fit(ranks, options);
    for (std::size_t q = 0; q < sets.count; ++q)
        rounds[q] =
            static_cast<std::int64_t>(fit(sets, q, log_worth + q * ranks.labels, interruption));
}

}  // namespace prefero
