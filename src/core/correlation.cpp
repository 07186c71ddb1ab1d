#include "core/correlation.hpp"

namespace prefero {

namespace {

// Ranks are nearly always halves of integers. As short integers eight of them are compared at
// once; sums over one row of a pair loop then fit a short integer too.
constexpr std::size_t kShortLimit = 16000;

bool as_halves(const std::vector<double>& ranks, std::size_t count, std::int16_t* halves) {
    if (count > kShortLimit) return false;
    bool exact = true;
    for (std::size_t i = 0; i < count; ++i) {
        const double twice = 2 * ranks[i];
        const bool fits = twice >= 0 && twice < 32767;
        const auto value = static_cast<std::int16_t>(fits ? twice : 0);
        exact &= static_cast<double>(value) == twice;
        halves[i] = value;
    }
    return exact;
}

template <typename Rank, typename Sum>
PairCounts compare(const Rank* first, const Rank* second, std::size_t common) {
    std::int64_t agreement = 0, strict = 0, strict_first = 0, strict_second = 0;
    for (std::size_t i = 0; i < common; ++i) {
        const Rank a = first[i], b = second[i];
        Sum row_agreement = 0, row_strict = 0, row_first = 0, row_second = 0;
        for (std::size_t j = i + 1; j < common; ++j) {
            const Sum s = static_cast<Sum>(preference(a, first[j]));
            const Sum t = static_cast<Sum>(preference(b, second[j]));
            const Sum both = static_cast<Sum>(s * t);
            row_agreement = static_cast<Sum>(row_agreement + both);
            row_strict = static_cast<Sum>(row_strict + both * both);
            row_first = static_cast<Sum>(row_first + s * s);
            row_second = static_cast<Sum>(row_second + t * t);
        }
        agreement += row_agreement;
        strict += row_strict;
        strict_first += row_first;
        strict_second += row_second;
    }
    const auto pairs = static_cast<std::int64_t>(common ? pair_count(common) : 0);
    PairCounts counts;
    counts.concordant = (strict + agreement) / 2;
    counts.discordant = (strict - agreement) / 2;
    counts.tied_first = strict_second - strict;
    counts.tied_second = strict_first - strict;
    counts.tied_both = pairs - strict_first - strict_second + strict;
    return counts;
}

}  // namespace

PairCounts PairCounter::operator()(const double* first, const double* second, std::size_t labels) {
    std::size_t common = 0;
    for (std::size_t i = 0; i < labels; ++i) {
        first_[common] = first[i];
        second_[common] = second[i];
        common += known(first[i]) && known(second[i]);
    }
    if (as_halves(first_, common, first_halves_.data()) &&
        as_halves(second_, common, second_halves_.data()))
        return compare<std::int16_t, std::int16_t>(first_halves_.data(), second_halves_.data(),
                                                   common);
    return compare<double, int>(first_.data(), second_.data(), common);
}

void count_pairs(RankMatrix first, RankMatrix second, std::int64_t* counts) {
    PairCounter counter(first.labels);
    for (std::size_t i = 0; i < first.rows; ++i) {
        const PairCounts row = counter(first.row(i), second.row(i), first.labels);
        *counts++ = row.concordant;
        *counts++ = row.discordant;
        *counts++ = row.tied_first;
        *counts++ = row.tied_second;
        *counts++ = row.tied_both;
    }
}

}  // namespace prefero
