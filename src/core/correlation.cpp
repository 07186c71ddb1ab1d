#include "core/correlation.hpp"

namespace prefero {

PairCounts PairCounter::operator()(const double* first, const double* second, std::size_t labels) {
    std::size_t common = 0;
    for (std::size_t i = 0; i < labels; ++i) {
        first_[common] = first[i];
        second_[common] = second[i];
        common += known(first[i]) && known(second[i]);
    }
    std::int64_t agreement = 0, strict = 0, strict_first = 0, strict_second = 0;
    for (std::size_t i = 0; i < common; ++i) {
        const double a = first_[i], b = second_[i];
        int row_agreement = 0, row_strict = 0, row_first = 0, row_second = 0;
        for (std::size_t j = i + 1; j < common; ++j) {
            const int s = preference(a, first_[j]), t = preference(b, second_[j]);
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
    const auto pairs = static_cast<std::int64_t>(common ? pair_count(common) : 0);
    PairCounts counts;
    counts.concordant = (strict + agreement) / 2;
    counts.discordant = (strict - agreement) / 2;
    counts.tied_first = strict_second - strict;
    counts.tied_second = strict_first - strict;
    counts.tied_both = pairs - strict_first - strict_second + strict;
    return counts;
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
