#include "core/extend.hpp"

#include <algorithm>
#include <numeric>

namespace prefero {

OrderedRows::OrderedRows(RankMatrix ranks)
    : labels_(ranks.labels),
      label_(ranks.rows * ranks.labels),
      bucket_end_(ranks.rows * ranks.labels),
      known_(ranks.rows) {
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        const double* row = ranks.row(i);
        Label *label = label_.data() + i * labels_, *end = bucket_end_.data() + i * labels_;
        std::size_t known_labels = 0;
        for (std::size_t j = 0; j < labels_; ++j) {
            label[known_labels] = static_cast<Label>(j);
            known_labels += known(row[j]);
        }
        std::sort(label, label + known_labels, [row](Label a, Label b) {
            const int sign = preference(row[a], row[b]);
            return sign ? sign > 0 : a < b;
        });
        for (std::size_t t = known_labels; t-- > 0;) {
            const bool last =
                t + 1 == known_labels || preference(row[label[t]], row[label[t + 1]]) != 0;
            end[t] = last ? static_cast<Label>(t + 1) : end[t + 1];
        }
        known_[i] = known_labels;
    }
}

Center::Center(std::size_t labels) : label(labels), place(labels) {
    std::iota(label.begin(), label.end(), Label{0});
    place = label;
}

bool Center::sort_by(const double* votes) {
    std::sort(label.begin(), label.end(), [votes](Label a, Label b) {
        return votes[a] != votes[b] ? votes[a] > votes[b] : a < b;
    });
    bool changed = false;
    for (std::size_t t = 0; t < label.size(); ++t) {
        changed |= place[label[t]] != t;
        place[label[t]] = static_cast<Label>(t);
    }
    return changed;
}

std::int64_t discordant_pairs(OrderedRow row, const Center& center) {
    std::int64_t pairs = 0;
    for (std::size_t t = 0; t < row.known; ++t) {
        const Label place = center.place[row.label[t]];
        int after = 0;
        for (std::size_t u = row.bucket_end[t]; u < row.known; ++u)
            after += place > center.place[row.label[u]];
        pairs += after;
    }
    return pairs;
}

std::int64_t Extender::find_gaps(OrderedRow row, const Center& center) {
    std::fill(present_.begin(), present_.end(), std::uint8_t{0});
    for (std::size_t t = 0; t < row.known; ++t) {
        present_[row.label[t]] = 1;
        place_[t] = center.place[row.label[t]];
    }
    std::int64_t pairs = 0;
    inserted_ = 0;
    for (std::size_t place = 0; place < center.label.size(); ++place) {
        if (present_[center.label[place]]) continue;
        // Before all known labels the new one contradicts those the center puts above it.
        auto cost = static_cast<std::int64_t>(place - inserted_);
        std::int64_t best = cost;
        std::size_t gap = 0;
        for (std::size_t t = 0; t < row.known; ++t) {
            cost += place_[t] > place ? 1 : -1;
            const bool better = cost < best && row.bucket_end[t] == t + 1;
            best = better ? cost : best;
            gap = better ? t + 1 : gap;
        }
        gap_[inserted_++] = static_cast<Label>(gap);
        pairs += best;
    }
    return pairs;
}

std::int64_t Extender::operator()(OrderedRow row, const Center& center, double* positions) {
    const std::int64_t pairs = find_gaps(row, center);
    // A label further down the center never goes to an earlier gap, so the gaps ascend.
    std::size_t next = 0;
    for (std::size_t place = 0; next < inserted_; ++place) {
        const Label label = center.label[place];
        if (!present_[label]) positions[label] = static_cast<double>(gap_[next] + next + 1), ++next;
    }
    std::size_t above = 0;
    for (std::size_t begin = 0; begin < row.known;) {
        const std::size_t end = row.bucket_end[begin];
        while (above < inserted_ && gap_[above] <= begin) ++above;
        const double mean = static_cast<double>(above) + static_cast<double>(begin + end + 1) / 2;
        for (std::size_t t = begin; t < end; ++t) positions[row.label[t]] = mean;
        begin = end;
    }
    return pairs;
}

void extend(RankMatrix ranks, const double* centers, std::size_t n_centers, double* positions) {
    const OrderedRows rows(ranks);
    Extender extender(ranks.labels);
    Center center(ranks.labels);
    for (std::size_t i = 0; i < ranks.rows; ++i) {
        if (i < n_centers) center.sort_by(centers + i * ranks.labels);
        extender(rows[i], center, positions + i * ranks.labels);
    }
}

}  // namespace prefero
