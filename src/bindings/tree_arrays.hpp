// Bins as the core reads them, and grown trees as the arrays that Python keeps.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bindings/arrays.hpp"
#include "core/tree.hpp"

namespace prefero::bindings {

using Bins = In<std::uint8_t, 2>;

inline BinMatrix bin_matrix(const Bins& bins) {
    return {bins.data(), bins.shape(0), bins.shape(1)};
}

// Rows and features are counted in as many bits as trees have for them.
inline void require_growable(const Bins& bins) {
    require(bins.shape(0) < (std::size_t{1} << 31), "there must be fewer than 2^31 rows");
    require(bins.shape(1) < (std::size_t{1} << 16), "there must be fewer than 65536 features");
}

constexpr std::size_t kWorthReturning = std::size_t{1} << 24;  // bytes

// One array of the same member of all trees, which they lose: there need not be room for both.
template <typename T, typename Item>
Out<T, 1> joined(std::vector<Tree>& trees, std::vector<Item> Tree::* member) {
    static_assert(sizeof(Item) % sizeof(T) == 0, "items must consist of whole numbers of T");
    std::size_t size = 0;
    for (const Tree& tree : trees) size += (tree.*member).size();
    auto all = make_open_array<T, 1>({size * (sizeof(Item) / sizeof(T))});
    char* out = reinterpret_cast<char*>(all.data());
    for (Tree& tree : trees) {
        const std::size_t bytes = (tree.*member).size() * sizeof(Item);
        if (bytes) std::memcpy(out, (tree.*member).data(), bytes);
        out += bytes;
        std::vector<Item>().swap(tree.*member);
    }
#if defined(__GLIBC__)
    // What many trees leave behind would not go back by itself.
    if (size * sizeof(Item) > kWorthReturning) malloc_trim(0);
#endif
    return all;
}

template <typename Item>
Out<std::int64_t, 1> starts_of(const std::vector<Tree>& trees, std::vector<Item> Tree::* member,
                               std::size_t row) {
    auto starts = make_array<std::int64_t, 1>({trees.size() + 1});
    starts.data()[0] = 0;
    for (std::size_t t = 0; t < trees.size(); ++t)
        starts.data()[t + 1] =
            starts.data()[t] + static_cast<std::int64_t>((trees[t].*member).size() / row);
    return starts;
}

// Every tree has a row of `sets` a node, or none has.
inline void fill_sets(std::vector<Tree>& trees) {
    const bool any = std::any_of(trees.begin(), trees.end(),
                                 [](const Tree& tree) { return !tree.sets.empty(); });
    if (!any) return;
    for (Tree& tree : trees) tree.sets.resize(tree.nodes.size(), -1);
}

// Trees one after the other; those that were given are empty then.
inline nb::dict tree_arrays(std::vector<Tree>& trees, std::size_t labels) {
    fill_sets(trees);
    nb::dict result;
    result["node_starts"] = starts_of(trees, &Tree::nodes, 1);
    result["value_starts"] = starts_of(trees, &Tree::scores, labels);
    result["set_starts"] = starts_of(trees, &Tree::categories, 1);
    result["nodes"] = joined<std::int64_t>(trees, &Tree::nodes);
    result["weight"] = joined<double>(trees, &Tree::weight);
    result["decrease"] = joined<float>(trees, &Tree::decrease);
    result["sets"] = joined<std::int32_t>(trees, &Tree::sets);
    result["categories"] = joined<std::uint64_t>(trees, &Tree::categories);
    result["scores"] = joined<float>(trees, &Tree::scores);
    result["evidence"] = joined<float>(trees, &Tree::evidence);
    return result;
}

}  // namespace prefero::bindings
