#include "core/aggregate.hpp"

#include <algorithm>
#include <cmath>

namespace prefero {

void borda_votes(const OrderedRows& rows, std::size_t n_rows, double* votes) {
    const std::size_t labels = rows.labels();
    const auto all = static_cast<double>(labels + 1);
    for (std::size_t i = 0; i < n_rows; ++i, votes += labels) {
        const OrderedRow row = rows[i];
        const auto ranked = static_cast<double>(row.known + 1);
        std::fill(votes, votes + labels, all / 2);
        for (std::size_t begin = 0; begin < row.known;) {
            const std::size_t end = row.bucket_end[begin];
            const double position = static_cast<double>(begin + end + 1) / 2;
            for (std::size_t t = begin; t < end; ++t)
                votes[row.label[t]] = (ranked - position) * all / ranked;
            begin = end;
        }
    }
}

void borda_batch(RankMatrix ranks, Neighborhoods sets, double* votes, Interruption& interruption) {
    const std::size_t labels = ranks.labels;
    std::vector<double> row_votes(ranks.rows * labels);
    borda_votes(OrderedRows(ranks), ranks.rows, row_votes.data());
    for (std::size_t q = 0; q < sets.count; ++q, votes += labels) {
        double total = 0;
        interruption.spend(sets.size(q) * labels);
        std::fill(votes, votes + labels, 0.0);
        for (std::int64_t member = sets.starts[q]; member < sets.starts[q + 1]; ++member) {
            const double weight = sets.weights[member];
            const double* vote =
                row_votes.data() + static_cast<std::size_t>(sets.rows[member]) * labels;
            for (std::size_t j = 0; j < labels; ++j) votes[j] += weight * vote[j];
            total += weight;
        }
        for (std::size_t j = 0; j < labels; ++j) votes[j] = mean_votes(votes[j], total, labels);
    }
}

void pair_sums(RankMatrix ranks, const double* weights, double* sums, Interruption& interruption) {
    const std::size_t labels = ranks.labels;
    std::fill(sums, sums + labels * labels, 0.0);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        interruption.spend(labels * labels);
        const double* row = ranks.row(r);
        const double weight = weights[r];
        for (std::size_t i = 0; i < labels; ++i) {
            double* out = sums + i * labels;
            const double rank = row[i];
            for (std::size_t j = 0; j < labels; ++j) out[j] += rank < row[j] ? weight : 0.0;
        }
    }
}

namespace {

struct Move {
    std::size_t to;
    double change;  // of the weight of broken preferences
};

Move best_move(const double* sums, std::size_t labels, const std::int64_t* order,
               std::size_t from) {
    const auto label = static_cast<std::size_t>(order[from]);
    const auto change_if_before = [&](std::size_t place) {
        const auto other = static_cast<std::size_t>(order[place]);
        return sums[other * labels + label] - sums[label * labels + other];
    };
    Move best{from, 0};
    double change = 0;
    for (std::size_t place = from; place-- > 0;) {
        change += change_if_before(place);
        if (change < best.change) best = {place, change};
    }
    change = 0;
    for (std::size_t place = from + 1; place < labels; ++place) {
        change -= change_if_before(place);
        if (change < best.change) best = {place, change};
    }
    return best;
}

}  // namespace

void improve_order(const double* sums, std::size_t labels, std::int64_t* order) {
    double total = 0;
    for (std::size_t k = 0; k < labels * labels; ++k) total += sums[k];
    const double noise = 1e-12 * total;  // rounding must not make moves go round in circles
    bool improved = true;
    while (improved) {
        improved = false;
        for (std::size_t from = 0; from < labels; ++from) {
            const Move move = best_move(sums, labels, order, from);
            if (move.change >= -noise) continue;
            improved = true;
            if (move.to < from)
                std::rotate(order + move.to, order + from, order + from + 1);
            else
                std::rotate(order + from, order + from + 1, order + move.to + 1);
        }
    }
}

void improve_orders(const double* before, std::size_t count, std::size_t labels,
                    std::int64_t* orders, Interruption& interruption) {
    std::vector<double> sums(labels * labels);
    for (std::size_t q = 0; q < count; ++q) {
        interruption.spend(4 * labels * labels);
        for (std::size_t i = 0; i < labels; ++i)
            for (std::size_t j = i + 1; j < labels; ++j) {
                const double p = std::isfinite(*before) ? *before : 0.5;
                sums[i * labels + j] = p;
                sums[j * labels + i] = 1 - p;
                ++before;
            }
        improve_order(sums.data(), labels, orders + q * labels);
    }
}

}  // namespace prefero
