// The rows one tree is grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lanes.hpp"
#include "core/mallows.hpp"

namespace prefero {

constexpr std::size_t kBins = 256;
constexpr std::size_t kMissingBin = 255;

// All training rows, shared by the trees of a forest.
struct TrainingSet {
    std::size_t rows, features, labels;
    const std::uint8_t* bins;         // rows x features
    const std::uint8_t* categorical;  // features: whether bins are categories
    std::size_t width;                // blocks a row
    const Block* lanes;               // rows x width: what the criterion sums
    const float* votes;               // rows x labels
    const float* evidence;            // rows x labels, or null if every row ranks every label
    const std::int32_t* ids;          // the number of each row's ranking, or null
    const double* weights;            // rows, or null: one each
    bool whole_weights;               // a weight of 2 is two examples
    const ThetaTable* thetas;         // for the Mallows criterion, or null
};

// A small random generator, the same on every machine (SplitMix64).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // Uniform in 0..bound-1; bound is below 2^32, so the bias is below one in 2^32.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

  private:
    std::uint64_t state_;
};

// How often each row occurs in the bootstrap sample of this seed.
void bootstrap_counts(std::uint64_t seed, std::vector<std::uint16_t>& counts);

// The rows of one tree, one after the other, with their weights multiplied in.
class Sample {
  public:
    explicit Sample(const TrainingSet& training) : set(training) {}

    // Takes all rows, or a bootstrap sample. Trees grown one after the other share the memory.
    void draw(bool bootstrap, std::uint64_t seed);

    const TrainingSet& set;
    std::size_t rows = 0;
    std::vector<std::uint32_t> origin;  // row of the training set
    std::vector<std::uint8_t> bins;     // rows x features
    std::vector<Block> lanes;           // rows x width
    std::vector<std::uint32_t> counts;  // examples that a row stands for
    std::vector<float> weights;

    const Block* lane(std::uint32_t row) const { return lanes.data() + row * set.width; }
    float weight(std::uint32_t row) const { return weights[row]; }

  private:
    std::vector<std::uint16_t> drawn_;
};

}  // namespace prefero
