#include "core/bins.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/wide.hpp"

namespace prefero {

namespace {

constexpr std::size_t kTogether = 32;  // rows searched at once: one waits while others go on

// How many of `count` edges lie below each value. Halves without a branch: which way a comparison
// goes is a coin toss here.
PREFERO_WIDE void count_below(const double* values, const double* edges, std::size_t count,
                              std::uint32_t* below) {
    for (std::size_t i = 0; i < kTogether; ++i) below[i] = 0;
    while (count > 0) {
        const auto half = static_cast<std::uint32_t>((count + 1) / 2);
        for (std::size_t i = 0; i < kTogether; ++i)
            below[i] += edges[below[i] + half - 1] < values[i] ? half : 0;
        count -= half;
    }
}

constexpr std::size_t kFewToSort = 256;
constexpr unsigned kDigitBits = 8, kDigits = 8;
constexpr std::size_t kDigitValues = std::size_t{1} << kDigitBits;

std::size_t digit(std::uint64_t key, unsigned number) {
    return key >> (number * kDigitBits) & (kDigitValues - 1);
}

// Whole numbers in the order of the values, and back.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

std::uint64_t key_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & kSign ? ~bits : bits | kSign;
}

double value_of(std::uint64_t key) {
    const std::uint64_t bits = key & kSign ? key ^ kSign : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Sorts digit after digit, from the lowest on, but for digits in which all values agree, as those
// of whole numbers mostly do.
void sort_by_digits(std::vector<double>& values) {
    std::vector<std::uint64_t> keys(values.size()), sorted(values.size());
    std::transform(values.begin(), values.end(), keys.begin(), key_of);
    std::vector<std::array<std::uint32_t, kDigitValues>> places(kDigits);
    for (std::uint64_t key : keys)
        for (unsigned d = 0; d < kDigits; ++d) ++places[d][digit(key, d)];
    for (unsigned d = 0; d < kDigits; ++d) {
        if (places[d][digit(keys[0], d)] == keys.size()) continue;
        std::uint32_t before = 0;
        for (std::uint32_t& place : places[d]) {
            const std::uint32_t count = place;
            place = before;
            before += count;
        }
        for (std::uint64_t key : keys) sorted[places[d][digit(key, d)]++] = key;
        keys.swap(sorted);
    }
    std::transform(keys.begin(), keys.end(), values.begin(), value_of);
}

// Of the places where larger values begin, those next to quantiles of `count` values.
std::vector<std::size_t> at_quantiles(const std::vector<std::size_t>& begins, std::size_t count,
                                      std::size_t bins) {
    std::vector<std::size_t> chosen;
    for (std::size_t bin = 1; bin < bins; ++bin) {
        auto next = std::lower_bound(begins.begin(), begins.end(), bin * count / bins);
        if (next == begins.end()) --next;
        if (chosen.empty() || chosen.back() < *next) chosen.push_back(*next);
    }
    return chosen;
}

}  // namespace

void bin_values(const ValueMatrix& values, const Edges& edges, std::uint8_t* bins) {
    const std::size_t m = edges.features;
    double own[kTogether] = {};
    std::uint32_t below[kTogether];
    for (std::size_t r = 0; r < values.rows; r += kTogether) {
        const std::size_t rows = std::min(kTogether, values.rows - r);
        const double* first = values.data + static_cast<std::ptrdiff_t>(r) * values.row_step;
        for (std::size_t f = 0; f < m; ++f, first += values.feature_step) {
            const double* value = first;
            for (std::size_t i = 0; i < rows; ++i, value += values.row_step) own[i] = *value;
            count_below(own, edges.values + edges.starts[f],
                        static_cast<std::size_t>(edges.starts[f + 1] - edges.starts[f]), below);
            for (std::size_t i = 0; i < rows; ++i)
                bins[(r + i) * m + f] = static_cast<std::uint8_t>(
                    own[i] == own[i] ? below[i] : std::uint32_t{kMissingBin});
        }
    }
}

std::vector<double> numeric_edges(std::vector<double>& values, std::size_t most_bins) {
    values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return v != v; }),
                 values.end());
    if (values.size() > kFewToSort)
        sort_by_digits(values);
    else
        std::sort(values.begin(), values.end());
    std::vector<std::size_t> begins;
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i] > values[i - 1]) begins.push_back(i);
    if (begins.size() >= most_bins) begins = at_quantiles(begins, values.size(), most_bins);
    std::vector<double> edges;
    edges.reserve(begins.size());
    for (std::size_t begin : begins) {
        const double low = values[begin - 1], high = values[begin], middle = low / 2 + high / 2;
        edges.push_back(middle < high ? middle : low);
    }
    return edges;
}

}  // namespace prefero
