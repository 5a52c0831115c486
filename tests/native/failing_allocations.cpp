// Lets allocations of chosen libraries fail, to be put before all others:
//   g++ -std=c++20 -O1 -shared -fPIC tests/native/failing_allocations.cpp -o failing.so -ldl
//   LD_PRELOAD=./failing.so python ...
// Memory and threads asked for by code outside the watched ranges are always given.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

constexpr int kMaxRanges = 8;
struct Range {
  uintptr_t begin, end;
} ranges[kMaxRanges];
std::atomic<int> range_count{0};
std::atomic<long> first_failure{0};  // 0: none
std::atomic<bool> lasting{false};
std::atomic<long> seen{0};

bool fails(const void* caller) {
  const long first = first_failure.load(std::memory_order_relaxed);
  if (first == 0) return false;
  const uintptr_t address = reinterpret_cast<uintptr_t>(caller);
  for (int i = 0; i < range_count.load(); ++i) {
    if (address < ranges[i].begin || address >= ranges[i].end) continue;
    const long number = ++seen;
    return number == first || (lasting.load() && number > first);
  }
  return false;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void watch_range(uintptr_t begin, uintptr_t end) {
  const int count = range_count.load();
  if (count == kMaxRanges) return;
  ranges[count] = {begin, end};
  range_count.store(count + 1);
}

// The `first`-th allocation from now on fails, and all after it if the shortage lasts.
void arm(long first, int lasts) {
  seen.store(0);
  lasting.store(lasts != 0);
  first_failure.store(first);
}

// Returns how many allocations there were.
long disarm() {
  first_failure.store(0);
  return seen.load();
}

void* malloc(size_t bytes) {
  if (!fails(CALLER)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(size_t count, size_t bytes) {
  if (!fails(CALLER)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* memory, size_t bytes) {
  if (!fails(CALLER)) return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  if (!fails(CALLER)) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails(CALLER)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  if (fails(CALLER)) {
    errno = ENOMEM;
    return reinterpret_cast<void*>(-1);
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails(CALLER) ? EAGAIN : create(thread, attributes, start, argument);
}

int pthread_setspecific(pthread_key_t key, const void* value) {
  using Set = int (*)(pthread_key_t, const void*);
  static const Set set = reinterpret_cast<Set>(dlsym(RTLD_NEXT, "pthread_setspecific"));
  return fails(CALLER) ? ENOMEM : set(key, value);
}

}  // extern "C"

// Without these, the caller of malloc would be the library that operator new is in.
void* operator new(size_t bytes) {
  void* memory = fails(CALLER) ? nullptr : __libc_malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) {
  void* memory = fails(CALLER) ? nullptr : __libc_malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  void* memory = fails(CALLER) ? nullptr : __libc_memalign(static_cast<size_t>(alignment), bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_memalign(static_cast<size_t>(alignment), bytes);
}
