// Memory for array outputs: 64-byte aligned blocks that are kept when released, so that a training
// step in steady state asks the system for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace extensor {

constexpr size_t kBlockAlignment = 64;

// All sizes in bytes.
struct MemoryStatistics {
  size_t in_use;         // asked for and not yet released
  size_t peak_in_use;    // the most that was ever in use, or since reset_peak_memory()
  size_t cached;         // held for reuse
  uint64_t allocations;  // hits + misses
  uint64_t hits;         // served from the cache
  uint64_t misses;       // served by the system
};

// A block of at least `bytes` bytes, uninitialised; never null except when the system has no memory
// left. Zero bytes give a valid block. Any thread may release what another allocated.
void* allocate_block(size_t bytes);
void* allocate_zeroed_block(size_t bytes);
void release_block(void* data);
// As realloc: the old block stays valid if this returns null.
void* reallocate_block(void* data, size_t bytes);

// Memory from the pool for the time of a scope; std::bad_alloc if there is none.
class TemporaryBlock {
 public:
  explicit TemporaryBlock(size_t bytes) : data_(static_cast<char*>(allocate_block(bytes))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~TemporaryBlock() { release_block(data_); }
  TemporaryBlock(const TemporaryBlock&) = delete;
  TemporaryBlock& operator=(const TemporaryBlock&) = delete;
  char* data() const { return data_; }

 private:
  char* data_;
};

MemoryStatistics memory_statistics();
void reset_peak_memory();

// Bytes that may be cached at most; beyond it, the blocks unused for longest go back to the system.
// Starts as an eighth of the machine's memory or 1 GiB, whichever is smaller.
size_t memory_cache_limit();
void set_memory_cache_limit(size_t bytes);

// Returns all cached blocks to the system and says how many bytes they were.
size_t trim_memory();

}  // namespace extensor
