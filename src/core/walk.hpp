// Walking down trees, many rows together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tree.hpp"

namespace prefero {

// The leaf that each row reaches in a tree; that of a row whose entry of `drawn` is not 0 is left
// open, if there are such entries. `plain` says that no test is on categories and no value is
// missing.
void leaves_of(const Forest& forest, std::size_t tree, BinMatrix bins, bool plain,
               const std::uint16_t* drawn, std::int32_t* leaves);

}  // namespace prefero
