// Rows of a small node sorted by the bins of a feature.
#pragma once

#include <cstring>

#include "core/sample.hpp"

namespace prefero {

// What a scan needs of the node.
struct NodeRows {
    const std::uint32_t* rows;
    std::size_t count;     // rows
    std::size_t examples;  // examples they stand for
};

// A bin and the number of an item in it, in one word that sorts by bin: the bin less 128 in the
// upper byte, so that signed words compare as bins do.
using Key = std::int16_t;

constexpr std::size_t kMostItems = 256;
constexpr std::size_t kMostRows = 255;  // of a node whose rows are items: counts fit a byte

PREFERO_INLINE Key make_key(std::uint8_t bin, std::size_t item) {
    return static_cast<Key>((bin - 128) * 256 + static_cast<int>(item));
}
PREFERO_INLINE std::uint8_t bin_of(Key key) { return static_cast<std::uint8_t>((key >> 8) + 128); }
PREFERO_INLINE std::size_t item_of(Key key) { return static_cast<std::uint8_t>(key); }

// The keys of items in ascending order. Behind them the last is repeated, so that they can be
// read eight at a time.
class SortedKeys {
  public:
    // The rows of a node, at most kMostRows, by a feature; false if all lie in one bin.
    PREFERO_INLINE bool read(const Sample& sample, NodeRows node, std::size_t feature) {
        const std::uint8_t* column = sample.bins.data() + feature;
        const std::size_t stride = sample.data.features();
        int differ = 0;
        const std::uint8_t first = column[node.rows[0] * stride];
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::uint8_t bin = column[node.rows[i] * stride];
            unsorted_[i] = make_key(bin, i);
            differ |= bin ^ first;
        }
        if (!differ) return false;
        if (node.count <= kFew)
            sort_few(node.count);
        else
            sort_many(node.count);
        pad(node.count);
        return true;
    }

    // Eight rows by a feature; false if all lie in one bin. No branch and nothing that waits for
    // memory: there are many nodes of so few rows.
    PREFERO_INLINE bool read_eight(const Sample& sample, const std::uint32_t (&rows)[kSimdWidth],
                                   std::size_t feature) {
        const std::uint8_t* column = sample.bins.data() + feature;
        const std::size_t stride = sample.data.features();
        const std::uint8_t first = column[rows[0] * stride];
        int differ = 0;
        std::uint64_t halves[2] = {};
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kSimdWidth; ++i) {
            const std::uint8_t bin = column[rows[i] * stride];
            const std::uint64_t key = static_cast<std::uint16_t>(make_key(bin, i));
            halves[i / 4] |= key << (16 * (i % 4));
            differ |= bin ^ first;
        }
        if (!differ) return false;
        sort_eight(halves, sorted_);
        pad(kSimdWidth);
        return true;
    }

    // Takes keys that come in ascending order; finish() when all are here.
    void clear() { count_ = 0; }
    void push(std::uint8_t bin) {
        sorted_[count_] = make_key(bin, count_);
        ++count_;
    }
    void finish() { pad(count_); }

    // Drops all behind the first few.
    void keep(std::size_t count) { pad(count); }

    std::size_t count() const { return count_; }
    Key operator[](std::size_t i) const { return sorted_[i]; }
    const Key* data() const { return sorted_; }

  private:
    static constexpr std::size_t kFew = 3 * kShorts;

    void pad(std::size_t count) {
        count_ = count;
        for (std::size_t i = 0; i < kSimdWidth; ++i) sorted_[count + i] = sorted_[count - 1];
    }

    // A key goes to the place whose number is how many keys are smaller: comparing all with all
    // takes no branch that could be mispredicted.
    PREFERO_INLINE void sort_few(std::size_t count) {
        std::int16_t places[kFew];
        for (std::size_t block = 0; block < count; block += kShorts) {
            Shorts keys, smaller{};
            std::memcpy(&keys, unsorted_ + block, sizeof keys);
            for (std::size_t i = 0; i < count; ++i) smaller += count_below(unsorted_[i], keys);
            std::memcpy(places + block, &smaller, sizeof smaller);
        }
        for (std::size_t i = 0; i < count; ++i) sorted_[places[i]] = unsorted_[i];
    }

    // Counting sort. Counts and their sums fit a byte, so one product adds up eight of them.
    PREFERO_INLINE void sort_many(std::size_t count) {
        constexpr std::uint64_t kOnes = 0x0101010101010101u;
        std::uint8_t places[kBins] = {};
        for (std::size_t i = 0; i < count; ++i) ++places[bin_of(unsorted_[i])];
        std::uint64_t before = 0;
        for (std::size_t at = 0; at < kBins; at += sizeof before) {
            std::uint64_t counts;
            std::memcpy(&counts, places + at, sizeof counts);
            const std::uint64_t sums = counts * kOnes, starts = (sums << 8) + before * kOnes;
            std::memcpy(places + at, &starts, sizeof starts);
            before += sums >> 56;
        }
        for (std::size_t i = 0; i < count; ++i)
            sorted_[places[bin_of(unsorted_[i])]++] = unsorted_[i];
    }

    Key unsorted_[kMostRows + 1] = {};
    Key sorted_[kMostItems + kSimdWidth];
    std::size_t count_ = 0;
};

}  // namespace prefero
