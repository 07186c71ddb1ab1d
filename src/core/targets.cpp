#include "core/targets.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "core/positions.hpp"

namespace prefero {

namespace {

constexpr std::size_t kMostInWord = 15;  // labels whose positions fit four bits each

template <class Key, class KeyOf>
std::vector<std::size_t> number_rows(std::size_t rows, std::int32_t* ids, KeyOf key_of) {
    std::unordered_map<Key, std::int32_t> seen;
    std::vector<std::size_t> firsts;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto next = static_cast<std::int32_t>(firsts.size());
        const auto found = seen.try_emplace(key_of(r), next);
        if (found.second) firsts.push_back(r);
        ids[r] = found.first->second;
    }
    return firsts;
}

}  // namespace

std::vector<LabelPair> sign_pairs(std::size_t labels) {
    std::vector<LabelPair> pairs;
    const auto c = static_cast<std::uint32_t>(labels);
    if (labels <= kMostLabelsInFull) {
        for (std::uint32_t i = 0; i + 1 < c; ++i)
            for (std::uint32_t j = i + 1; j < c; ++j) pairs.push_back({i, j});
        return pairs;
    }
    const std::uint32_t farthest = (c - 1) / 2;
    const auto wanted = static_cast<std::uint32_t>(pair_count(kMostLabelsInFull) / labels);
    const std::uint32_t distances = std::max<std::uint32_t>(1, std::min(farthest, wanted));
    for (std::uint32_t k = 0; k < distances; ++k) {
        const std::uint32_t d = 1 + k * farthest / distances;
        for (std::uint32_t i = 0; i < c; ++i) pairs.push_back({i, (i + d) % c});
    }
    return pairs;
}

void write_signs(RankMatrix ranks, const std::vector<LabelPair>& pairs, float* signs,
                 std::size_t stride) {
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        const double* row = ranks.row(r);
        float* out = signs + r * stride;
        for (const LabelPair& pair : pairs)
            *out++ = static_cast<float>(preference(row[pair.first], row[pair.second]));
    }
}

void write_votes(RankMatrix ranks, float* votes, float* comparisons) {
    const std::size_t c = ranks.labels;
    const float unit = c > 1 ? 1.0f / static_cast<float>(c - 1) : 1.0f;
    std::vector<double> wins(c);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        const double* row = ranks.row(r);
        const std::size_t present = row_wins(row, c, wins.data());
        for (std::size_t i = 0; i < c; ++i) {
            votes[r * c + i] = static_cast<float>(wins[i]) * unit;
            if (comparisons)
                comparisons[r * c + i] = known(row[i]) ? static_cast<float>(present - 1) * unit : 0;
        }
    }
}

void write_borda(RankMatrix ranks, float* votes, std::size_t stride) {
    const std::size_t c = ranks.labels;
    std::vector<double> wins(c);
    for (std::size_t r = 0; r < ranks.rows; ++r) {
        const auto present = static_cast<float>(row_wins(ranks.row(r), c, wins.data()));
        const float scale = static_cast<float>(c + 1) / (present + 1);
        for (std::size_t i = 0; i < c; ++i)
            votes[r * stride + i] = static_cast<float>(wins[i]) * scale;
    }
}

std::vector<std::size_t> write_ids(RankMatrix ranks, std::int32_t* ids) {
    // Only the order inside a row counts, so rows are compared by their positions.
    const std::size_t c = ranks.labels;
    std::vector<double> positions(c);
    if (c <= kMostInWord)
        return number_rows<std::uint64_t>(ranks.rows, ids, [&](std::size_t r) {
            bucket_positions({ranks.row(r), 1, c}, Bucket::kSmallest, positions.data());
            std::uint64_t word = 0;
            for (double position : positions)
                word = word << 4 | (known(position) ? static_cast<std::uint64_t>(position) : 0);
            return word;
        });
    return number_rows<std::string>(ranks.rows, ids, [&](std::size_t r) {
        bucket_positions({ranks.row(r), 1, c}, Bucket::kSmallest, positions.data());
        for (double& position : positions)
            if (!known(position)) position = 0;
        return std::string(reinterpret_cast<const char*>(positions.data()), c * sizeof(double));
    });
}

}  // namespace prefero
