// Algorithm 1 of Cheng et al. 2009: the center of a set of rankings, and their distances to it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/aggregate.hpp"
#include "core/interruption.hpp"

namespace prefero {

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

    // Some rows, and what they weigh.
    struct Set {
        const std::int64_t* rows;
        const double* weights;
        std::size_t size;
    };

    // The distances of rankings, extended, to their center, and the weight behind them.
    struct Distance {
        double sum, weight;
    };

    // Writes the mean votes that the center follows.
    Distance operator()(Set set, std::size_t max_rounds, double* votes,
                        Interruption& interruption) {
        const std::size_t steps = (1 + set.size) * labels() * labels();
        interruption.spend(steps);
        collect(set);
        first_votes(votes);
        center_.sort_by(votes);
        if (!(total_ > 0)) return {0, 0};
        if (!incomplete_.empty())
            for (std::size_t round = 0; round < max_rounds; ++round) {
                interruption.spend(steps);
                extension_votes(votes);
                if (!center_.sort_by(votes)) break;
            }
        return {distance(), total_};
    }

  private:
    struct Member {
        std::size_t row;
        double weight;
    };

    std::size_t labels() const { return rows_.labels(); }

    void collect(Set set) {
        complete_.clear();
        incomplete_.clear();
        total_ = 0;
        for (std::size_t member = 0; member < set.size; ++member) {
            const auto row = static_cast<std::size_t>(set.rows[member]);
            const std::size_t known = rows_[row].known;
            const double weight =
                set.weights[member] * static_cast<double>(known) / static_cast<double>(labels());
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

}  // namespace prefero
