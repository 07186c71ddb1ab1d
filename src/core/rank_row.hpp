// What one row of ranks means: smaller is better, equal is tied, NaN is unknown.
// No other file of the core decodes ties or missing labels, but simd_ranks.hpp for eight rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prefero {

inline bool known(double rank) { return rank == rank; }

// +1 if a stands before b, -1 if after, 0 if tied or either is unknown: a comparison with
// NaN is false, so a missing label needs no branch.
template <typename Rank>
int preference(Rank a, Rank b) {
    return (a < b) - (a > b);
}

// A view of n rows of c ranks, row after row.
struct RankMatrix {
    const double* data;
    std::size_t rows;
    std::size_t labels;

    const double* row(std::size_t i) const { return data + i * labels; }
};

inline std::size_t pair_count(std::size_t labels) { return labels * (labels - 1) / 2; }

// Writes the signs of all label pairs (0,1), (0,2), ..., (c-2,c-1) of one row.
inline void pair_signs(const double* ranks, std::size_t labels, std::int8_t* signs) {
    for (std::size_t i = 0; i + 1 < labels; ++i)
        for (std::size_t j = i + 1; j < labels; ++j)
            *signs++ = static_cast<std::int8_t>(preference(ranks[i], ranks[j]));
}

}  // namespace prefero
