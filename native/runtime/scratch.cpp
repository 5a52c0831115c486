#include "scratch.h"

#include <cstdlib>
#include <new>

#if defined(_WIN32)
#include <malloc.h>
#else
#include <pthread.h>
#endif

namespace extensor {
namespace {

constexpr int kPurposes = 3;
constexpr size_t kPageBytes = 4096;

// Small and without a destructor. The system allocates a thread's variables when it first touches
// one, and room for their destructors too, and ends the process if it cannot.
struct Kept {
  void* memory[kPurposes];
  size_t bytes[kPurposes];
  bool released_at_end;
};
constinit thread_local Kept kept{};

#if defined(_WIN32)
void* allocate_pages(size_t bytes) { return _aligned_malloc(bytes, kPageBytes); }
void release_pages(void* memory) { _aligned_free(memory); }
#else
void* allocate_pages(size_t bytes) { return std::aligned_alloc(kPageBytes, bytes); }
void release_pages(void* memory) { std::free(memory); }
#endif

void release_all(void* object) {
  Kept& all = *static_cast<Kept*>(object);
  for (void* memory : all.memory) release_pages(memory);
  all = {};
}

#if defined(_WIN32)
bool release_at_thread_end() {
  static thread_local struct Owner {
    ~Owner() { release_all(&kept); }
  } owner;
  static_cast<void>(owner);
  return true;
}
#else
pthread_key_t key;
const bool has_key = pthread_key_create(&key, release_all) == 0;

bool release_at_thread_end() { return !has_key || pthread_setspecific(key, &kept) == 0; }
#endif

void grow(int index, size_t bytes) {
  if (!kept.released_at_end) kept.released_at_end = release_at_thread_end();
  if (!kept.released_at_end) throw std::bad_alloc();
  release_pages(kept.memory[index]);
  const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  kept.memory[index] = allocate_pages(rounded);
  kept.bytes[index] = kept.memory[index] == nullptr ? 0 : rounded;
  if (kept.memory[index] == nullptr) throw std::bad_alloc();
}

}  // namespace

void* thread_scratch(Scratch purpose, size_t bytes) {
  const int index = static_cast<int>(purpose);
  if (bytes > kept.bytes[index]) grow(index, bytes);
  return kept.memory[index];
}

}  // namespace extensor
