// The rows one tree is grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interruption.hpp"
#include "core/training_data.hpp"

namespace prefero {

// A number that looks drawn at random, from another one (SplitMix64).
inline std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

constexpr std::uint64_t kRandomStep = 0x9e3779b97f4a7c15u;

// A small random generator, the same on every machine.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() { return mixed(state_ += kRandomStep); }

    // Uniform in 0..bound-1; bound is below 2^32, so the bias is below one in 2^32.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

  private:
    std::uint64_t state_;
};

// Rows of a sample.
struct RowSpan {
    const std::uint32_t* first;
    const std::uint32_t* last;

    const std::uint32_t* begin() const { return first; }
    const std::uint32_t* end() const { return last; }
};

// Some rows of all, one after the other.
struct RowRange {
    std::size_t first, count, all;
};

// How often each row of a range occurs in the bootstrap sample, of as many rows as there are in
// all, of this seed.
void bootstrap_counts(std::uint64_t seed, RowRange range, std::uint16_t* counts);

// Whether, 1 or 0, each row of a range is among those that a seed draws, about a share of all. It
// depends on the row alone, so whoever holds a row can tell.
void share_counts(std::uint64_t seed, RowRange range, double share, std::uint16_t* counts);

// Draws some of all features; they come in ascending order. If all are
// wanted, no random number is used up.
void draw_features(Random& random, std::size_t all, std::size_t wanted,
                   std::vector<std::uint16_t>& features);

// The rows of one tree, one after the other, with their weights multiplied in.
class Sample {
  public:
    // With SIMD rows in floats or, where they fit, in shorts.
    explicit Sample(const TrainingData& training, bool in_shorts = false)
        : data(training), in_shorts_(in_shorts) {}

    // Whether the SIMD rows of a bootstrap sample are whole numbers that fit shorts, unless it
    // holds a row hundreds of times, and floats add up any number of them; and are so many that
    // half of the memory is worth to make floats of them again.
    static bool better_in_shorts(const TrainingData& data) {
        return data.largest_whole() > 0 && data.largest_whole() < 128 && !data.weighted() &&
               static_cast<double>(data.rows()) <= kMostInFloats && data.width() > 1 &&
               data.rows() * data.width() * sizeof(Block) > kCacheBytes * 3 / 2;
    }

    // Takes all rows, or a bootstrap sample, without those of no weight. Trees grown one after
    // the other share the memory.
    void draw(bool bootstrap, std::uint64_t seed, Interruption& interruption);

    // Takes a share of the rows, at least one, and leaves room for their simd_rows.
    void draw_share(double share, std::uint64_t seed, Interruption& interruption);

    // Whether so few rows would be read sooner if they stood one after the other.
    bool worth_gathering(std::size_t count) const {
        return count <= rows / kPart && rows * row_bytes() > kCacheBytes;
    }

    // Makes some rows the only ones, numbered from 0 in their order, until scatter() puts back
    // what was there before. Some of those rows may be gathered again.
    void gather(RowSpan some);
    void scatter();

    // The number that a row has outside of the rows gathered last.
    std::uint32_t number_outside(std::uint32_t row) const { return held_[depth_ - 1].numbers[row]; }

    const TrainingData& data;
    std::size_t rows = 0;
    std::vector<std::uint32_t> origin;  // row of the training data
    std::vector<std::uint8_t> bins;     // rows x features
    std::vector<Block> simd_rows;       // rows x width, if not in shorts
    std::vector<ShortBlock> shorts;     // rows x short_width(): two blocks each, or one and nothing
    std::vector<std::uint32_t> counts;  // examples that a row stands for
    std::vector<double> weights;
    // Beyond this weight a row could be lost in a sum of floats: such nodes are summed in doubles.
    double most_in_floats = 0;
    bool counts_in_floats = false;  // no node is beyond, and floats add up the weights exactly

    const Block* simd_row(std::uint32_t row) const { return simd_rows.data() + row * data.width(); }
    std::size_t short_width() const { return (data.width() + 1) / 2; }
    const ShortBlock* short_row(std::uint32_t row) const {
        return shorts.data() + row * short_width();
    }

    // Shorts hold the sums of any rows of this weight, and of so many rows whatever they weigh.
    double most_in_shorts() const {
        return kMostInShort / static_cast<double>(data.largest_whole());
    }
    std::size_t rows_in_shorts = 0;

    float weight(std::uint32_t row) const { return static_cast<float>(weights[row]); }
    double weight(RowSpan span) const;

  private:
    static constexpr std::size_t kPart = 4;
    static constexpr std::size_t kCacheBytes = std::size_t{1} << 20;
    static constexpr double kMostInShort = 32767;

    // The rows of another depth, while those of this one are in use.
    struct Held {
        std::size_t rows = 0;
        std::vector<std::uint32_t> origin, counts, numbers;
        std::vector<std::uint8_t> bins;
        std::vector<Block> simd_rows;
        std::vector<ShortBlock> shorts;
        std::vector<double> weights;
    };

    void write_simd_rows(Interruption& interruption);
    void write_shorts(Interruption& interruption);

    // Everything but the SIMD rows, of the rows that were drawn.
    void take_drawn(Interruption& interruption);

    void swap_with(Held& other);

    std::size_t row_bytes() const {
        const std::size_t simd_bytes =
            in_shorts_ ? short_width() * sizeof(ShortBlock) : data.width() * sizeof(Block);
        return simd_bytes + data.features();
    }

    bool in_shorts_;
    std::vector<std::uint16_t> drawn_;
    std::vector<Held> held_;
    std::size_t depth_ = 0;
};

}  // namespace prefero
