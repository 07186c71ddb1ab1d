// Bins as the core reads them, and grown trees as the arrays that Python keeps.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bindings/arrays.hpp"
#include "core/joined_trees.hpp"

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

// An array that owns what has grown, item by item as numbers of type T.
template <typename T, typename Item>
Out<T, 1> grown_array(Growing<Item>& grown) {
    static_assert(sizeof(Item) % sizeof(T) == 0, "items must consist of whole numbers of T");
    const std::size_t size = grown.size() * (sizeof(Item) / sizeof(T));
    if (size == 0) return make_array<T, 1>({0});
    T* items = reinterpret_cast<T*>(grown.release());
    nb::capsule owner(items, [](void* p) noexcept { std::free(p); });
    return Out<T, 1>(items, {size}, owner);
}

inline Out<std::int64_t, 1> starts_array(const std::vector<std::int64_t>& starts) {
    auto array = make_array<std::int64_t, 1>({starts.size()});
    std::copy(starts.begin(), starts.end(), array.data());
    return array;
}

// Trees as the arrays that Python keeps; those that were given are empty then.
inline nb::dict tree_arrays(JoinedTrees& trees) {
    nb::dict result;
    result["node_starts"] = starts_array(trees.node_starts);
    result["value_starts"] = starts_array(trees.value_starts);
    result["set_starts"] = starts_array(trees.set_starts);
    result["nodes"] = grown_array<std::int64_t>(trees.nodes);
    result["weight"] = grown_array<double>(trees.weight);
    result["decrease"] = grown_array<float>(trees.decrease);
    result["sets"] = grown_array<std::int32_t>(trees.sets);
    result["categories"] = grown_array<std::uint64_t>(trees.categories);
    result["scores"] = grown_array<float>(trees.scores);
    result["evidence"] = grown_array<float>(trees.comparisons);
    return result;
}

// The same of trees that were kept one by one.
inline nb::dict tree_arrays(std::vector<Tree>& trees, std::size_t labels) {
    JoinedTrees joined(trees.size(), labels);
    for (Tree& tree : trees) {
        joined.add(tree);
        tree = Tree{};
    }
    return tree_arrays(joined);
}

}  // namespace prefero::bindings
