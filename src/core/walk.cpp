#include "core/walk.hpp"

#include <algorithm>
#include <cstddef>

#include "core/simd.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PREFERO_SCALAR)
#include <immintrin.h>
#define PREFERO_GATHERS __attribute__((target("avx2")))
#endif

namespace prefero {

namespace {

constexpr std::size_t kRowBlock = 1024;  // rows that walk down a tree together
constexpr std::size_t kMostAtOnce = 64;  // of them step by step
constexpr std::size_t kSteps = 4;        // before those that have arrived leave
constexpr unsigned kCutBits = 8;
constexpr std::size_t kWorthTurning = 4;  // trees that rows walk down

struct TreeView {
    std::size_t count;  // nodes
    const Node* nodes;
    const std::uint32_t* steps;  // of its paths
    unsigned shift;
    const std::int32_t* sets;
    const BinSet* categories;
};

TreeView view(const Forest& forest, std::size_t tree) {
    const auto node = static_cast<std::size_t>(forest.node_starts[tree]);
    const bool paths = forest.paths && !forest.paths->steps.empty();
    return {static_cast<std::size_t>(forest.node_starts[tree + 1]) - node,
            forest.nodes + node,
            paths ? forest.paths->steps.data() + node : nullptr,
            paths ? forest.paths->shift : 0,
            forest.sets ? forest.sets + node : nullptr,
            forest.sets ? forest.categories + forest.set_starts[tree] : nullptr};
}

bool goes_left(const TreeView& tree, std::size_t at, std::uint8_t bin) {
    const Node& node = tree.nodes[at];
    if (bin == kMissingBin) return (node.flags & kMissingLeft) != 0;
    if (node.flags & kCategories)  // which valid() has seen in trees that have sets alone
        return tree.categories[tree.sets[at]].contains(bin);  // NOLINT(*-core.NullDereference)
    return bin <= node.cut;
}

std::int32_t walk(const TreeView& tree, const std::uint8_t* bins) {
    std::size_t at = 0;
    while (!(tree.nodes[at].flags & kLeaf)) {
        const Node& node = tree.nodes[at];
        at = static_cast<std::size_t>(node.child) + !goes_left(tree, at, bins[node.feature]);
    }
    return tree.nodes[at].child;
}

// Rows that take a few steps down a tree.
struct Walkers {
    const TreeView& tree;
    BinMatrix bins;
    std::size_t steps;
    std::int32_t* nodes;  // where each row is
};

// Notes where rows are, writes those that have not arrived to `still` and returns behind the last.
template <std::size_t AtOnce>
PREFERO_INLINE std::uint16_t* note(const Walkers& walkers, const std::uint16_t* rows,
                                   const std::int32_t* reached, std::uint16_t* still) {
    for (std::size_t i = 0; i < AtOnce; ++i) {
        const std::uint16_t row = rows[i];
        walkers.nodes[row] = reached[i];
        *still = row;
        still += walkers.tree.steps[reached[i]] >> walkers.tree.shift != 0;
    }
    return still;
}

// Without a branch: memory answers one row while another waits.
std::uint16_t* step_by_step(const Walkers& walkers, const std::uint16_t* rows,
                            std::uint16_t* still) {
    constexpr std::size_t kAtOnce = 16;
    const unsigned shift = walkers.tree.shift;
    const std::uint32_t* steps = walkers.tree.steps;
    const std::uint32_t features = (1u << (shift - kCutBits)) - 1;
    const std::uint8_t* own[kAtOnce];
    std::int32_t at[kAtOnce];
    for (std::size_t i = 0; i < kAtOnce; ++i) {
        own[i] = walkers.bins.data + rows[i] * walkers.bins.features;
        at[i] = walkers.nodes[rows[i]];
    }
    for (std::size_t step = 0; step < walkers.steps; ++step)
        for (std::size_t i = 0; i < kAtOnce; ++i) {
            const std::uint32_t test = steps[at[i]];
            const std::uint8_t bin = own[i][test >> kCutBits & features];
            at[i] +=
                static_cast<std::int32_t>(test >> shift) + (bin > static_cast<std::uint8_t>(test));
        }
    return note<kAtOnce>(walkers, rows, at, still);
}

#if defined(PREFERO_GATHERS)
// The same with eight rows in a register. Reads a word where a bin stands, so three bytes too many.
PREFERO_GATHERS std::uint16_t* step_in_registers(const Walkers& walkers, const std::uint16_t* rows,
                                                 std::uint16_t* still) {
    constexpr std::size_t kAtOnce = kMostAtOnce, kRegisters = kAtOnce / kSimdWidth;
    const int shift = static_cast<int>(walkers.tree.shift);
    const auto* steps = reinterpret_cast<const int*>(walkers.tree.steps);
    const auto* values = reinterpret_cast<const int*>(walkers.bins.data);
    const __m256i features = _mm256_set1_epi32((1 << (shift - static_cast<int>(kCutBits))) - 1);
    const __m256i width = _mm256_set1_epi32(static_cast<int>(walkers.bins.features));
    const __m256i byte = _mm256_set1_epi32(255);
    const __m128i way = _mm_cvtsi32_si128(shift);
    __m256i own[kRegisters], at[kRegisters];
    for (std::size_t r = 0; r < kRegisters; ++r) {
        const __m256i row = _mm256_cvtepu16_epi32(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + r * kSimdWidth)));
        own[r] = _mm256_mullo_epi32(row, width);
        at[r] = _mm256_i32gather_epi32(walkers.nodes, row, sizeof(std::int32_t));
    }
    for (std::size_t step = 0; step < walkers.steps; ++step)
        for (std::size_t r = 0; r < kRegisters; ++r) {
            const __m256i test = _mm256_i32gather_epi32(steps, at[r], sizeof(std::int32_t));
            const __m256i feature = _mm256_and_si256(_mm256_srli_epi32(test, kCutBits), features);
            const __m256i bin = _mm256_and_si256(
                _mm256_i32gather_epi32(values, _mm256_add_epi32(own[r], feature), 1), byte);
            const __m256i right = _mm256_cmpgt_epi32(bin, _mm256_and_si256(test, byte));
            at[r] = _mm256_sub_epi32(_mm256_add_epi32(at[r], _mm256_srl_epi32(test, way)), right);
        }
    std::int32_t reached[kAtOnce];
    for (std::size_t r = 0; r < kRegisters; ++r)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(reached + r * kSimdWidth), at[r]);
    return note<kAtOnce>(walkers, rows, reached, still);
}
#endif

// The leaves in which rows are.
void read_leaves(const Node* nodes, const std::int32_t* at, std::size_t rows,
                 std::int32_t* leaves) {
    for (std::size_t row = 0; row < rows; ++row) leaves[row] = nodes[at[row]].child;
}

#if defined(PREFERO_GATHERS)
PREFERO_GATHERS void gather_leaves(const Node* nodes, const std::int32_t* at, std::size_t rows,
                                   std::int32_t* leaves) {
    static_assert(offsetof(Node, child) == 0, "a node begins with its child");
    const auto* children = reinterpret_cast<const int*>(nodes);
    std::size_t row = 0;
    for (; row + kSimdWidth <= rows; row += kSimdWidth) {
        const __m256i node = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + row));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(leaves + row),
                            _mm256_i32gather_epi32(children, node, sizeof(Node)));
    }
    read_leaves(nodes, at + row, rows - row, leaves + row);
}
#endif

// How this processor steps, how many rows at once, and how many bytes it reads behind a bin.
struct Stepping {
    std::uint16_t* (*step)(const Walkers&, const std::uint16_t*, std::uint16_t*);
    std::size_t at_once, behind;
    void (*read)(const Node*, const std::int32_t*, std::size_t, std::int32_t*);
};

Stepping stepping() {
#if defined(PREFERO_GATHERS)
    if (__builtin_cpu_supports("avx2")) return {step_in_registers, kMostAtOnce, 3, gather_leaves};
#endif
    return {step_by_step, 16, 0, read_leaves};
}

// Rows of a block and where they are.
struct RowBlock {
    BinMatrix bins;
    const std::uint16_t* drawn;
    std::int32_t nodes[kRowBlock];
    std::uint16_t walking[kRowBlock + kMostAtOnce];
    std::size_t left = 0;  // that walk

    void start() {
        for (std::size_t row = 0; row < bins.rows; ++row) {
            walking[left] = static_cast<std::uint16_t>(row);
            left += !drawn || drawn[row] == 0;
            nodes[row] = 0;
        }
    }

    // Takes the first steps with all rows, and with those that fill up the last register.
    void start(const TreeView& tree, const TurnedBins& turned, std::size_t first,
               std::size_t steps) {
        const std::size_t count = (bins.rows + kMostAtOnce - 1) / kMostAtOnce * kMostAtOnce;
        const std::uint16_t* still =
            first_steps({tree.steps, tree.shift}, turned, {first, count}, steps, nodes, walking);
        while (still > walking && still[-1] >= bins.rows) --still;
        left = static_cast<std::size_t>(still - walking);
    }

    // Those that have arrived leave: paths differ much in length.
    void step(const TreeView& tree, const Stepping& stepping, std::size_t steps) {
        const Walkers walkers{tree, bins, steps, nodes};
        // To step at once the last row walks with itself, which does no harm.
        for (std::size_t i = 0; i < stepping.at_once; ++i) walking[left + i] = walking[left - 1];
        std::uint16_t* still = walking;
        for (std::size_t i = 0; i < left; i += stepping.at_once)
            still = stepping.step(walkers, walking + i, still);
        left = static_cast<std::size_t>(still - walking);
    }
};

// The leaves of up to kRowBlock rows, from `first` on.
void block_leaves(const TreeView& tree, RowBlock& block, const TurnedBins* turned,
                  std::size_t first, const Stepping& stepping, std::int32_t* leaves) {
    // Few arrive before the depth that the leaves of a balanced tree would have, many soon after.
    std::size_t steps = 3;
    while (tree.count >> (steps - 1)) ++steps;
    if (turned) {
        block.start(tree, *turned, first, std::max(steps, TurnedBins::kFewestSteps));
        steps = kSteps;
    } else {
        block.start();
    }
    for (; block.left > 0; steps = kSteps) block.step(tree, stepping, steps);
    stepping.read(tree.nodes, block.nodes, block.bins.rows, leaves);
}

bool any_missing(BinMatrix bins) {
    const std::uint8_t* end = bins.data + bins.rows * bins.features;
    return std::find(bins.data, end, std::uint8_t{kMissingBin}) != end;
}

}  // namespace

Paths make_paths(const Forest& forest, std::size_t features) {
    Paths paths;
    paths.shift = kCutBits;
    while (features > 0 && (features - 1) >> (paths.shift - kCutBits)) ++paths.shift;
    const auto count = static_cast<std::size_t>(forest.node_starts[forest.trees]);
    paths.steps.resize(count);
    // Without a branch: which node is a leaf is a coin toss.
    std::uint64_t too_far = 0;
    for (std::size_t tree = 0; tree < forest.trees; ++tree)
        for (std::int64_t at = forest.node_starts[tree]; at < forest.node_starts[tree + 1]; ++at) {
            const Node& node = forest.nodes[at];
            const std::int64_t inner = (node.flags & kLeaf) - 1;  // all bits, or none of a leaf
            const std::int64_t child = forest.node_starts[tree] + node.child;
            const auto way = static_cast<std::uint64_t>((child - at) & inner) << paths.shift;
            const auto test = static_cast<std::uint32_t>(node.feature) << kCutBits | node.cut;
            const std::uint32_t last = kBins - 1;
            too_far |= way >> 32;
            paths.steps[static_cast<std::size_t>(at)] =
                static_cast<std::uint32_t>(way) |
                (last ^ ((last ^ test) & static_cast<std::uint32_t>(inner)));
        }
    if (too_far) return {};
    return paths;
}

WalkingRows::WalkingRows(const Forest& forest, BinMatrix bins, Walking who)
    : bins_(bins), plain_(!forest.sets && !any_missing(bins)) {
    const bool paths = forest.paths && !forest.paths->steps.empty();
    if (plain_ && paths && who == Walking::kAll && forest.trees >= kWorthTurning &&
        bins.rows >= kMostAtOnce && TurnedBins::useful(bins.features))
        turned_.emplace(bins);
}

void leaves_of(const Forest& forest, std::size_t tree, const WalkingRows& rows,
               const std::uint16_t* drawn, std::int32_t* leaves) {
    static const Stepping how = stepping();
    const BinMatrix bins = rows.bins();
    const TreeView own = view(forest, tree);
    // The last rows, behind which too few bytes are, walk alone.
    std::size_t together = bins.rows;
    if (!rows.plain() || !own.steps || bins.features == 0) together = 0;
    while (together > 0 && (bins.rows - together) * bins.features < how.behind) --together;
    for (std::size_t row = 0; row < together; row += kRowBlock) {
        RowBlock block;
        block.bins = {bins.data + row * bins.features, std::min(kRowBlock, together - row),
                      bins.features};
        block.drawn = drawn ? drawn + row : nullptr;
        block_leaves(own, block, rows.turned(), row, how, leaves + row);
    }
    for (std::size_t row = together; row < bins.rows; ++row)
        if (!drawn || drawn[row] == 0) leaves[row] = walk(own, bins.data + row * bins.features);
}

}  // namespace prefero
