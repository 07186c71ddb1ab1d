// What decides on splits, whoever adds up the rows: the grower of one machine, in floats or
// doubles, and the trees that are grown from histograms summed over partitions.
#pragma once

#include "core/simd.hpp"

namespace prefero {

// What rounding leaves of a sum at least.
template <class Number>
constexpr Number kNearlyAll = 1 - 1e-9;
template <>
inline constexpr float kNearlyAll<float> = 1 - 1e-6f;

// Whether no two rankings put a pair of labels in different orders: then no sum of their signs is
// smaller than the number of its terms. `agreement` adds up the magnitudes of the sums, `seen` the
// pairs that the rankings order.
template <class Number>
PREFERO_INLINE bool signs_agree(Number agreement, Number seen) {
    return agreement >= seen * kNearlyAll<Number>;
}

// Whether vectors of this weight are all the same: then the square of their sum is their weight
// times the sum of their squared lengths.
template <class Number>
PREFERO_INLINE bool vectors_agree(Number square, Number squared_lengths, Number weight) {
    return square >= squared_lengths * weight * kNearlyAll<Number>;
}

// The mean correlation in a node: of every ranking with all, and with all others.
struct Similarity {
    double all = 0, others = 0;
};

// Splits by how much less vectors spread around two means than around one.
struct SpreadRules {
    double unit;   // squared length of the vector of a complete strict ranking
    double gamma;  // see Stopping

    // `square` is that of the summed vectors, `length` the sum of their squared lengths in units.
    Similarity similarity(double square, double length, double weight) const {
        return {square / (weight * weight * unit),
                weight > 1 ? (square / unit - length) / (weight * (weight - 1)) : 1};
    }

    PREFERO_INLINE bool accepts(double gain, double weight, const Similarity& node) const {
        if (!(gain > 1e-9 * unit * weight)) return false;
        return gamma <= 0 || gamma * (1 + node.all + gain / (weight * unit)) > 1 + node.others;
    }

    PREFERO_INLINE double decrease(double gain) const { return gain / unit; }
};

// Splits by what a Newton step gains: with G and H the sums of first and second derivatives, the
// best step is -G / (H + penalty), and it lowers the loss by half of G^2 / (H + penalty).
template <class Number>
PREFERO_INLINE Number newton_gain(const Number& first, const Number& second,
                                  const Number& penalty) {
    return first * first / (second + penalty);
}

inline float newton_step(double first, double second, double penalty, double learning_rate) {
    return static_cast<float>(-learning_rate * first / (second + penalty));
}

// Qualities are the gains of both children added up.
template <class Number>
struct NewtonRules {
    static constexpr Number kRounding = static_cast<Number>(4e-6);
    static constexpr Number kLeast = static_cast<Number>(1e-12);

    // By more than rounding: features that part the rows alike are told apart by their numbers.
    PREFERO_INLINE static bool better(Number quality, Number than) {
        return quality > than * (than > 0 ? 1 + kRounding : 1);
    }

    // `own` is the gain of one step of the whole node.
    PREFERO_INLINE static bool accepts(Number quality, Number own) {
        return quality > own * (1 + kRounding) + kLeast;
    }

    PREFERO_INLINE static double decrease(Number quality, Number own) {
        return (double{quality} - own) / 2;
    }
};

}  // namespace prefero
