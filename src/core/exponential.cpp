#include "core/exponential.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/wide.hpp"

namespace prefero {

namespace {

constexpr double kLog2E = 0x1.71547652b82fep0;
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
// Added to a number it leaves the nearest integer in the low bits.
constexpr double kRound = 0x1.8p52;

}  // namespace

// exp(x) = 2^n exp(r) with |r| <= ln(2) / 2; the series of exp(r) ends below the last bit.
PREFERO_WIDE void exponentiate(double* values, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        const double rounded = values[k] * kLog2E + kRound, n = rounded - kRound;
        const double r = (values[k] - n * kLn2High) - n * kLn2Low;
        double series = 1.0 / 479001600;
        series = series * r + 1.0 / 39916800;
        series = series * r + 1.0 / 3628800;
        series = series * r + 1.0 / 362880;
        series = series * r + 1.0 / 40320;
        series = series * r + 1.0 / 5040;
        series = series * r + 1.0 / 720;
        series = series * r + 1.0 / 120;
        series = series * r + 1.0 / 24;
        series = series * r + 1.0 / 6;
        series = series * r + 0.5;
        series = series * r + 1;
        series = series * r + 1;
        std::uint64_t power, bits;
        std::memcpy(&power, &rounded, sizeof power);
        std::memcpy(&bits, &series, sizeof bits);
        bits += power << 52;
        std::memcpy(&values[k], &bits, sizeof bits);
    }
}

// log(x) = n ln(2) + 2 artanh((m - 1) / (m + 1)) with x = 2^n m and m next to 1, between the roots
// of 1/2 and 2: the series ends below the last bit.
PREFERO_WIDE void take_logarithms(double* values, std::size_t count) {
    constexpr std::uint64_t kOne = 0x3ff0000000000000u, kRootOfHalf = 0x3fe6a09e667f3bcdu;
    constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
    constexpr double kWhole = 0x1p52;  // with a whole number in its low bits, so many more
    for (std::size_t k = 0; k < count; ++k) {
        std::uint64_t bits;
        std::memcpy(&bits, &values[k], sizeof bits);
        bits += kOne - kRootOfHalf;
        const std::uint64_t power = (std::uint64_t{1075} << 52) | (bits >> 52);
        bits = (bits & kFraction) + kRootOfHalf;
        double whole, m;
        std::memcpy(&whole, &power, sizeof whole);
        std::memcpy(&m, &bits, sizeof m);
        const double n = whole - (kWhole + 1023);
        const double ratio = (m - 1) / (m + 1), square = ratio * ratio;
        double series = 1.0 / 21;
        series = series * square + 1.0 / 19;
        series = series * square + 1.0 / 17;
        series = series * square + 1.0 / 15;
        series = series * square + 1.0 / 13;
        series = series * square + 1.0 / 11;
        series = series * square + 1.0 / 9;
        series = series * square + 1.0 / 7;
        series = series * square + 1.0 / 5;
        series = series * square + 1.0 / 3;
        series = series * square + 1;
        values[k] = n * kLn2High + (n * kLn2Low + 2 * ratio * series);
    }
}

double log_product(const double* factors, std::size_t count, double size) {
    // So many factors stay below exp(700), and one at a time comes to an end too.
    const auto most = static_cast<std::size_t>(std::max(700 / std::max(size, 1.0), 1.0));
    double logarithm = 0;
    for (std::size_t begin = 0; begin < count; begin += most) {
        const std::size_t end = std::min(count, begin + most);
        double product[4] = {1, 1, 1, 1};
        std::size_t k = begin;
        for (; k + 4 <= end; k += 4)
            for (std::size_t slot = 0; slot < 4; ++slot) product[slot] *= factors[k + slot];
        for (; k < end; ++k) product[0] *= factors[k];
        logarithm += std::log((product[0] * product[1]) * (product[2] * product[3]));
    }
    return logarithm;
}

}  // namespace prefero
