// Rows that rank every label once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prefero {

constexpr std::size_t kMostPermuted = 63;  // labels whose ranks are bits of one word

// Whether the ranks are 1..c in some order. Of more labels than the most it says no.
inline bool is_permutation(const double* ranks, std::size_t labels) {
    if (labels > kMostPermuted) return false;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < labels; ++i) {
        const double rank = ranks[i];
        if (!(rank >= 1 && rank <= static_cast<double>(labels))) return false;
        const auto whole = static_cast<unsigned>(rank);
        if (whole != rank) return false;
        seen |= std::uint64_t{1} << (whole - 1);
    }
    return seen == (std::uint64_t{1} << labels) - 1;
}

}  // namespace prefero
