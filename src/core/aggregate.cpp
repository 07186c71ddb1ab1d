#include "core/aggregate.hpp"

#include <algorithm>

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

void borda_batch(RankMatrix ranks, Neighborhoods sets, double* votes) {
    const std::size_t labels = ranks.labels;
    std::vector<double> row_votes(ranks.rows * labels);
    borda_votes(OrderedRows(ranks), ranks.rows, row_votes.data());
    for (std::size_t q = 0; q < sets.count; ++q, votes += labels) {
        double total = 0;
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

void pair_sums(RankMatrix ranks, const double* weights, double* sums) {
    const std::size_t labels = ranks.labels;
    std::fill(sums, sums + labels * labels, 0.0);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        const double* row = ranks.row(r);
        const double weight = weights[r];
        for (std::size_t i = 0; i < labels; ++i) {
            double* out = sums + i * labels;
            const double rank = row[i];
            for (std::size_t j = 0; j < labels; ++j) out[j] += rank < row[j] ? weight : 0.0;
        }
    }
}

}  // namespace prefero
