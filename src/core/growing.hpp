// An array whose length is known when it is full.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace prefero {

// Grows in place where the system can: it moves pages, not bytes, and package that is not used yet
// costs nothing. A page that is touched for the first time costs as much as many nodes, so large
// arrays ask for large pages, as NumPy's do.
template <class T>
class Growing {
    static_assert(std::is_trivially_copyable_v<T>, "bytes are moved");

  public:
    Growing() = default;
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { std::free(items_); }

    std::size_t size() const { return size_; }

    void reserve(std::size_t room) {
        if (room > room_) resize_room(room);
    }

    void append(const T* items, std::size_t count) {
        make_room(count);
        if (count) std::memcpy(items_ + size_, items, count * sizeof(T));
        size_ += count;
    }

    void append_copies(T item, std::size_t count) {
        make_room(count);
        for (std::size_t i = 0; i < count; ++i) items_[size_ + i] = item;
        size_ += count;
    }

    // Hands the items over to a caller who frees them; null if there are none.
    T* release() {
        if (size_) resize_room(size_);
        T* items = size_ ? items_ : nullptr;
        if (!size_) std::free(items_);
        items_ = nullptr;
        size_ = room_ = 0;
        return items;
    }

  private:
    void make_room(std::size_t count) {
        if (size_ + count > room_) resize_room((size_ + count) * 3 / 2);
    }

    void resize_room(std::size_t room) {
        void* moved = std::realloc(items_, room * sizeof(T));
        if (!moved) throw std::bad_alloc{};
        items_ = static_cast<T*>(moved);
        room_ = room;
        ask_for_large_pages();
    }

    void ask_for_large_pages() const {
#if defined(__linux__)
        constexpr std::size_t kLarge = std::size_t{1} << 22, kPage = 4096;
        const std::size_t bytes = room_ * sizeof(T), at = reinterpret_cast<std::size_t>(items_);
        if (bytes < kLarge) return;
        const std::size_t first = (at + kPage - 1) / kPage * kPage;
        // It is a wish: systems that cannot fulfil it say so, and all goes on.
        madvise(reinterpret_cast<void*>(first), at + bytes - first, MADV_HUGEPAGE);
#endif
    }

    T* items_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace prefero
