#include "core/correlation.hpp"

#include "core/permutations.hpp"
#include "core/simd.hpp"

namespace prefero {

namespace {

// Ranks are nearly always halves of integers. As short integers eight or sixteen of them are
// compared at once; sums over one row of a pair loop then fit a short integer too.
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

PairCounts finish(std::int64_t pairs, std::int64_t agreement, std::int64_t strict,
                  std::int64_t strict_first, std::int64_t strict_second) {
    PairCounts counts;
    counts.concordant = (strict + agreement) / 2;
    counts.discordant = (strict - agreement) / 2;
    counts.tied_first = strict_second - strict;
    counts.tied_second = strict_first - strict;
    counts.tied_both = pairs - strict_first - strict_second + strict;
    return counts;
}

std::int64_t pairs_of(std::size_t labels) {
    return static_cast<std::int64_t>(labels ? pair_count(labels) : 0);
}

// For any two rows.
template <typename Rank>
PairCounts compare(const Rank* first, const Rank* second, std::size_t common) {
    std::int64_t agreement = 0, strict = 0, strict_first = 0, strict_second = 0;
    for (std::size_t i = 0; i < common; ++i) {
        int row_agreement = 0, row_strict = 0, row_first = 0, row_second = 0;
        for (std::size_t j = i + 1; j < common; ++j) {
            const int s = preference(first[i], first[j]), t = preference(second[i], second[j]);
            row_agreement += s * t;
            row_strict += s * t != 0;
            row_first += s != 0;
            row_second += t != 0;
        }
        agreement += row_agreement;
        strict += row_strict;
        strict_first += row_first;
        strict_second += row_second;
    }
    return finish(pairs_of(common), agreement, strict, strict_first, strict_second);
}

// Pairs of equal values, each of which is less than the size of the histogram.
std::int64_t tied_pairs(const std::int16_t* values, std::size_t count,
                        std::vector<std::int16_t>& histogram) {
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < count; ++i)
        pairs += histogram[static_cast<std::size_t>(values[i])]++;
    for (std::size_t i = 0; i < count; ++i) histogram[static_cast<std::size_t>(values[i])] = 0;
    return pairs;
}

PREFERO_INLINE int set_bits(std::uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    int count = 0;
    for (; word; word &= word - 1) ++count;
    return count;
#endif
}

// Concordant less discordant pairs: the one thing that takes a look at every pair.
PREFERO_CLONES std::int64_t agreement_of(const std::int16_t* first, const std::int16_t* second,
                                         std::size_t common) {
    std::int64_t agreement = 0;
    for (std::size_t i = 0; i < common; ++i) {
        const std::int16_t a = first[i], b = second[i];
        std::int16_t sum = 0;
        for (std::size_t j = i + 1; j < common; ++j) {
            const auto s = static_cast<std::int16_t>(preference(a, first[j]));
            const auto t = static_cast<std::int16_t>(preference(b, second[j]));
            sum = static_cast<std::int16_t>(sum + static_cast<std::int16_t>(s * t));
        }
        agreement += sum;
    }
    return agreement;
}

// Pairs that come in other orders in two permutations: for each rank of the second, taken in the
// order of the first, the larger ones that came before.
PREFERO_CLONES std::int64_t inversions(const double* first, const double* second,
                                       std::size_t labels) {
    std::uint8_t ranks[kMostPermuted + 1];
    for (std::size_t i = 0; i < labels; ++i)
        ranks[static_cast<unsigned>(first[i])] = static_cast<std::uint8_t>(second[i]);
    std::uint64_t seen = 0;
    std::int64_t count = 0;
    for (std::size_t place = 1; place <= labels; ++place) {
        count += set_bits(seen >> ranks[place]);
        seen |= std::uint64_t{1} << ranks[place];
    }
    return count;
}

}  // namespace

PairCounts PairCounter::operator()(const double* first, const double* second, std::size_t labels) {
    if (is_permutation(first, labels) && is_permutation(second, labels)) {
        const std::int64_t pairs = pairs_of(labels), discordant = inversions(first, second, labels);
        return finish(pairs, pairs - 2 * discordant, pairs, pairs, pairs);
    }
    std::size_t common = 0;
    for (std::size_t i = 0; i < labels; ++i) {
        first_[common] = first[i];
        second_[common] = second[i];
        common += known(first[i]) && known(second[i]);
    }
    if (!as_halves(first_, common, first_halves_.data()) ||
        !as_halves(second_, common, second_halves_.data()))
        return compare(first_.data(), second_.data(), common);
    const std::int64_t pairs = pairs_of(common);
    const std::int64_t tied_first = tied_pairs(first_halves_.data(), common, histogram_);
    const std::int64_t tied_second = tied_pairs(second_halves_.data(), common, histogram_);
    if (tied_first && tied_second)
        return compare(first_halves_.data(), second_halves_.data(), common);
    return finish(pairs, agreement_of(first_halves_.data(), second_halves_.data(), common),
                  pairs - tied_first - tied_second, pairs - tied_first, pairs - tied_second);
}

void count_pairs(RankMatrix first, RankMatrix second, std::int64_t* counts,
                 Interruption& interruption) {
    PairCounter counter(first.labels);
    for (std::size_t i = 0; i < first.rows; ++i) {
        interruption.spend(first.labels * first.labels);
        const PairCounts row = counter(first.row(i), second.row(i), first.labels);
        *counts++ = row.concordant;
        *counts++ = row.discordant;
        *counts++ = row.tied_first;
        *counts++ = row.tied_second;
        *counts++ = row.tied_both;
    }
}

}  // namespace prefero
