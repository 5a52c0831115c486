#include "memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#if defined(_WIN32)
#include <malloc.h>
#else
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

// AddressSanitizer can guard only the ends of blocks it hands out itself.
#if defined(__SANITIZE_ADDRESS__) && !defined(EXTENSOR_SYSTEM_ALLOCATOR)
#define EXTENSOR_SYSTEM_ALLOCATOR 1
#endif
#if defined(EXTENSOR_SYSTEM_ALLOCATOR)
#include <malloc.h>
#endif

namespace extensor {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 47;

// Held for a few instructions and nearly always free, since arrays come and go under the
// interpreter's lock. A mutex doubles the cost of a hit: 24 instead of 11 ns to take and give back.
class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) wait_until_free();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait_until_free() const {
    for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
      if (i >= 100) std::this_thread::yield();
    }
  }
  std::atomic<bool> held_{false};
};

constinit SpinLock pool_lock;
constinit MemoryStatistics statistics{};
constinit size_t cache_limit = 0;

using Guard = std::lock_guard<SpinLock>;

void count_in_use(size_t bytes) {
  statistics.in_use += bytes;
  statistics.peak_in_use = std::max(statistics.peak_in_use, statistics.in_use);
}

size_t default_cache_limit() {
  constexpr size_t kOneGibibyte = size_t{1} << 30;
#if defined(_WIN32)
  return kOneGibibyte;
#else
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kOneGibibyte;
  return std::min(kOneGibibyte, static_cast<size_t>(pages) * static_cast<size_t>(page_bytes) / 8);
#endif
}

[[maybe_unused]] const bool cache_limit_initialised = [] {
  cache_limit = default_cache_limit();
  return true;
}();

#if !defined(_WIN32)
// No other thread may be inside the pool at the moment of a fork, or the child would find it locked
// for ever.
[[maybe_unused]] const int fork_handlers_registered = pthread_atfork(
    [] { pool_lock.lock(); }, [] { pool_lock.unlock(); }, [] { pool_lock.unlock(); });
#endif

}  // namespace

#if defined(EXTENSOR_SYSTEM_ALLOCATOR)

void* allocate_block(size_t bytes) {
  void* data = nullptr;
  if (bytes > kMaxBytes ||
      posix_memalign(&data, kBlockAlignment, std::max<size_t>(1, bytes)) != 0) {
    return nullptr;
  }
  const Guard guard(pool_lock);
  ++statistics.allocations;
  ++statistics.misses;
  count_in_use(malloc_usable_size(data));
  return data;
}

void release_block(void* data) {
  if (data == nullptr) return;
  {
    const Guard guard(pool_lock);
    statistics.in_use -= malloc_usable_size(data);
  }
  free(data);
}

void* reallocate_block(void* data, size_t bytes) {
  void* moved = allocate_block(bytes);
  if (moved == nullptr || data == nullptr) return moved;
  std::memcpy(moved, data, std::min(bytes, malloc_usable_size(data)));
  release_block(data);
  return moved;
}

size_t trim_memory() { return 0; }

#else

namespace {

// Stands in the 64 bytes before the data. Knowing its own size makes a block safe to release
// without believing what the caller remembers of it.
struct alignas(kBlockAlignment) Block {
  Block* next;
  size_t bytes;  // as asked for
  int size_class;
};
static_assert(sizeof(Block) == kBlockAlignment);

// Four classes per power of two, in units of 64 bytes: 1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 ...
// The unused end of a large block is never touched and so takes address space, not memory.
constexpr int kClasses = 160;

int size_class_of(size_t bytes) {
  const size_t units = (std::max<size_t>(1, bytes) - 1) / kBlockAlignment;
  const int shift = std::max(0, static_cast<int>(std::bit_width(units)) - 3);
  return 4 * shift + static_cast<int>(units >> shift);
}

size_t capacity_of(int size_class) {
  const int shift = std::max(0, size_class / 4 - 1);
  return (static_cast<size_t>(size_class - 4 * shift + 1) << shift) * kBlockAlignment;
}

struct SizeClass {
  Block* first;
  uint64_t last_used;  // value of statistics.allocations
};
constinit SizeClass size_classes[kClasses] = {};

Block* block_of(void* data) { return static_cast<Block*>(data) - 1; }

#if defined(_WIN32)

void* system_allocate(size_t bytes) { return _aligned_malloc(bytes, kBlockAlignment); }
void system_release(void* memory, size_t) { _aligned_free(memory); }

#else

constexpr size_t kPageBytes = 4096;
constexpr size_t kHugePageBytes = size_t{2} << 20;
// From here on the system gets its memory back as soon as a block is released to it.
constexpr size_t kMappedFromBytes = size_t{1} << 20;
constexpr size_t kHugeFromBytes = size_t{4} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* map_pages(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Only whole aligned 2 MiB ranges become huge pages, so the start is aligned by mapping too much
// and giving the ends back.
void* map_huge_pages(size_t bytes) {
  char* memory = static_cast<char*>(map_pages(bytes + kHugePageBytes));
  if (memory == nullptr) return nullptr;
  const size_t before =
      (kHugePageBytes - reinterpret_cast<uintptr_t>(memory) % kHugePageBytes) % kHugePageBytes;
  if (before != 0) munmap(memory, before);
  munmap(memory + before + bytes, kHugePageBytes - before);
#if defined(MADV_HUGEPAGE)
  madvise(memory + before, bytes, MADV_HUGEPAGE);
#endif
  return memory + before;
}

void* system_allocate(size_t bytes) {
  if (bytes < kMappedFromBytes) return std::aligned_alloc(kBlockAlignment, bytes);
  const size_t mapped = round_up(bytes, kPageBytes);
  return bytes < kHugeFromBytes ? map_pages(mapped) : map_huge_pages(mapped);
}

void system_release(void* memory, size_t bytes) {
  if (bytes < kMappedFromBytes) return std::free(memory);
  munmap(memory, round_up(bytes, kPageBytes));
}

#endif

size_t system_bytes(int size_class) { return sizeof(Block) + capacity_of(size_class); }

Block* new_block(int size_class) {
  void* memory = system_allocate(system_bytes(size_class));
  if (memory == nullptr && trim_memory() > 0) memory = system_allocate(system_bytes(size_class));
  return memory == nullptr ? nullptr : new (memory) Block{nullptr, 0, size_class};
}

void return_to_system(Block* blocks) {
  while (blocks != nullptr) {
    Block* next = blocks->next;
    system_release(blocks, system_bytes(blocks->size_class));
    blocks = next;
  }
}

// The functions below are called with the lock held.

Block* pop_cached(int size_class) {
  Block* block = size_classes[size_class].first;
  if (block == nullptr) return nullptr;
  size_classes[size_class].first = block->next;
  statistics.cached -= capacity_of(size_class);
  return block;
}

void push_cached(Block* block) {
  SizeClass& home = size_classes[block->size_class];
  block->next = home.first;
  home.first = block;
  statistics.cached += capacity_of(block->size_class);
}

int least_recently_used_class() {
  int oldest = -1;
  for (int i = 0; i < kClasses; ++i) {
    if (size_classes[i].first == nullptr) continue;
    if (oldest < 0 || size_classes[i].last_used < size_classes[oldest].last_used) oldest = i;
  }
  return oldest;
}

// A program that changes its sizes must not be stuck with a cache full of the old ones.
Block* evict_down_to(size_t bytes) {
  Block* evicted = nullptr;
  while (statistics.cached > bytes) {
    Block* block = pop_cached(least_recently_used_class());
    block->next = evicted;
    evicted = block;
  }
  return evicted;
}

}  // namespace

void* allocate_block(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  const int size_class = size_class_of(bytes);
  {
    const Guard guard(pool_lock);
    size_classes[size_class].last_used = ++statistics.allocations;
    if (Block* block = pop_cached(size_class)) {
      ++statistics.hits;
      count_in_use(bytes);
      block->bytes = bytes;
      return block + 1;
    }
    ++statistics.misses;
  }
  Block* block = new_block(size_class);
  if (block == nullptr) return nullptr;
  block->bytes = bytes;
  const Guard guard(pool_lock);
  count_in_use(bytes);
  return block + 1;
}

void release_block(void* data) {
  if (data == nullptr) return;
  Block* block = block_of(data);
  Block* evicted = nullptr;
  {
    const Guard guard(pool_lock);
    statistics.in_use -= block->bytes;
    push_cached(block);
    if (statistics.cached > cache_limit) evicted = evict_down_to(cache_limit);
  }
  return_to_system(evicted);
}

void* reallocate_block(void* data, size_t bytes) {
  if (data == nullptr) return allocate_block(bytes);
  Block* block = block_of(data);
  if (bytes <= kMaxBytes && size_class_of(bytes) == block->size_class) {
    const Guard guard(pool_lock);
    statistics.in_use -= block->bytes;
    count_in_use(bytes);
    block->bytes = bytes;
    return data;
  }
  void* moved = allocate_block(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, data, std::min(bytes, block->bytes));
  release_block(data);
  return moved;
}

size_t trim_memory() {
  Block* evicted = nullptr;
  size_t bytes = 0;
  {
    const Guard guard(pool_lock);
    bytes = statistics.cached;
    evicted = evict_down_to(0);
  }
  return_to_system(evicted);
  return bytes;
}

#endif

void* allocate_zeroed_block(size_t bytes) {
  void* data = allocate_block(bytes);
  if (data != nullptr) std::memset(data, 0, bytes);
  return data;
}

MemoryStatistics memory_statistics() {
  const Guard guard(pool_lock);
  return statistics;
}

void reset_peak_memory() {
  const Guard guard(pool_lock);
  statistics.peak_in_use = statistics.in_use;
}

size_t memory_cache_limit() {
  const Guard guard(pool_lock);
  return cache_limit;
}

void set_memory_cache_limit(size_t bytes) {
  bool over = false;
  {
    const Guard guard(pool_lock);
    cache_limit = bytes;
    over = statistics.cached > bytes;
  }
  // A lower limit is rare and means "give it back"; evicting just enough would not be worth the
  // code.
  if (over) trim_memory();
}

}  // namespace extensor
