#include "threads.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "cpu.h"
#include "placement.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

namespace extensor {
namespace {

// Long enough to span Python and small ops between two large ones, too short to be seen as load.
constexpr std::chrono::microseconds kSpinTime{200};
constexpr int kPausesPerClockRead = 32;
// On a virtual machine, waking a thread costs the caller 11 us and the thread runs 25 to 70 us
// later; handing a task to a spinning one takes under 1 us.
constexpr int64_t kWorthAwakeThreads = 12'000;
constexpr int64_t kWorthSleepingThreads = 48'000;
// Woken threads wake others in turn, so that the caller of many threads need not wake them all.
constexpr int kWakesPerThread = 2;
constexpr int64_t kMaxTasks = std::numeric_limits<int32_t>::max();

// The ticket holds the job's number in its high half and the tasks nobody has claimed in its low
// half. A worker that wakes late finds either no unclaimed task or a changed number, so the caller
// needs to wait only for workers that did claim one.
//
// body, context and tasks are atomic because such a late worker may read them while the next job is
// being written; its claim then fails and what it read is not used.
struct Pool {
  alignas(64) std::atomic<bool> busy{false};
  // Touched only by the thread that set `busy`.
  std::vector<std::thread> workers;
  int requested = 1;           // threads asked for at the last resize
  int callers_processor = -1;  // which the workers keep off

  alignas(64) std::atomic<uint64_t> ticket{0};
  std::atomic<TaskBody> body{nullptr};
  std::atomic<void*> context{nullptr};
  std::atomic<int> tasks{0};
  std::atomic<int> worker_limit{0};  // workers of a higher index leave
  std::atomic<bool> spin{false};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  alignas(64) std::atomic<int> unfinished{0};
  std::atomic<bool> caller_asleep{false};

  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<int> wake_signal{0};
};

// Neither pool nor workers are destroyed by static destructors: daemon threads may still be inside
// parallel_for when those run.
std::atomic<Pool*> current_pool{nullptr};
std::atomic<int> wanted_threads{0};
thread_local bool inside_task = false;

int unclaimed(uint64_t ticket) { return static_cast<int>(ticket & 0xffffffffu); }

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Condition>
bool spin_until(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (condition()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

void run_task(Pool& pool, TaskBody body, void* context, int64_t task) {
  if (pool.failed.load(std::memory_order_relaxed)) return;
  try {
    body(context, task);
  } catch (...) {
    if (!pool.failed.exchange(true)) pool.error = std::current_exception();
  }
}

// Claims and runs tasks until none is left; returns how many.
int run_tasks(Pool& pool) {
  int done = 0;
  uint64_t ticket = pool.ticket.load(std::memory_order_acquire);
  while (unclaimed(ticket) > 0) {
    const TaskBody body = pool.body.load(std::memory_order_relaxed);
    void* const context = pool.context.load(std::memory_order_relaxed);
    const int task = pool.tasks.load(std::memory_order_relaxed) - unclaimed(ticket);
    if (!pool.ticket.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
      continue;
    }
    run_task(pool, body, context, task);
    ++done;
    ticket = pool.ticket.load(std::memory_order_acquire);
  }
  return done;
}

// Sequentially consistent with sleep_until_woken: either the sleeper sees the new ticket or we see
// the sleeper.
void wake_sleepers(Pool& pool, int helpers) {
  const int count = std::min({helpers, pool.sleepers.load(), kWakesPerThread});
  if (count <= 0) return;
  pool.wake_signal.fetch_add(1);
  for (int i = 0; i < count; ++i) pool.wake_signal.notify_one();
}

// Sleepers could be woken on the caller's processor. Threads that spin have one of their own.
void make_way_for_caller(Pool& pool) {
  if (pool.sleepers.load(std::memory_order_relaxed) == 0 || !pool.spin.load()) return;
  const int here = current_processor();
  if (here == pool.callers_processor) return;
  pool.callers_processor = here;
  for (std::thread& worker : pool.workers) keep_off(worker, here);
}

void sleep_until_woken(Pool& pool, int index) {
  const int seen = pool.wake_signal.load();
  pool.sleepers.fetch_add(1);
  if (unclaimed(pool.ticket.load()) == 0 && index < pool.worker_limit.load()) {
    pool.wake_signal.wait(seen);
  }
  pool.sleepers.fetch_sub(1);
  wake_sleepers(pool, unclaimed(pool.ticket.load()) - 1);
}

void report_done(Pool& pool, int done) {
  if (pool.unfinished.fetch_sub(done) == done && pool.caller_asleep.load()) {
    pool.unfinished.notify_one();
  }
}

void worker_main(Pool* shared, int index) {
  Pool& pool = *shared;
  inside_task = true;
  const auto has_news = [&] {
    return unclaimed(pool.ticket.load(std::memory_order_relaxed)) > 0 ||
           index >= pool.worker_limit.load(std::memory_order_relaxed);
  };
  while (index < pool.worker_limit.load()) {
    if (const int done = run_tasks(pool)) report_done(pool, done);
    if (pool.spin.load(std::memory_order_relaxed) && spin_until(has_news)) continue;
    sleep_until_woken(pool, index);
  }
}

void wait_for_workers(Pool& pool) {
  const auto finished = [&] { return pool.unfinished.load(std::memory_order_acquire) == 0; };
  if (finished() || (pool.spin.load(std::memory_order_relaxed) && spin_until(finished))) return;
  pool.caller_asleep.store(true);
  while (const int left = pool.unfinished.load()) pool.unfinished.wait(left);
  pool.caller_asleep.store(false);
}

// Python expects signals on its own threads, where they interrupt sleeps and reads.
class BlockedSignals {
#if !defined(_WIN32)
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t previous_;
#endif
};

void remove_workers(Pool& pool, size_t keep) {
  pool.worker_limit.store(static_cast<int>(keep));
  pool.wake_signal.fetch_add(1);
  pool.wake_signal.notify_all();
  for (; pool.workers.size() > keep; pool.workers.pop_back()) pool.workers.back().join();
}

// A system that refuses a thread, or memory for it, leaves us with fewer, which only costs time.
void add_workers(Pool& pool, size_t count) {
  const BlockedSignals blocked;
  pool.worker_limit.store(static_cast<int>(count));
  try {
    pool.workers.reserve(count);
    while (pool.workers.size() < count) {
      pool.workers.emplace_back(worker_main, &pool, static_cast<int>(pool.workers.size()));
    }
  } catch (const std::exception&) {
    pool.worker_limit.store(static_cast<int>(pool.workers.size()));
  }
}

bool have_own_processors(int threads) {
  try {
    return threads <= available_cores();
  } catch (const std::exception&) {
    return false;
  }
}

void resize(Pool& pool, int threads) {
  if (pool.requested == threads) return;
  const size_t workers = static_cast<size_t>(threads - 1);
  if (workers < pool.workers.size()) remove_workers(pool, workers);
  pool.spin.store(have_own_processors(threads));
  if (workers > pool.workers.size()) add_workers(pool, workers);
  pool.callers_processor = -1;
  pool.requested = threads;
}

// Null if there is no memory for it.
Pool* pool_object() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  std::unique_ptr<Pool> fresh(new (std::nothrow) Pool);
  if (fresh && current_pool.compare_exchange_strong(pool, fresh.get())) pool = fresh.release();
  return pool;
}

// Marks the calling thread, so that a nested call runs inline even if the pool is free by then
// because the outer call did not get it.
class InsideTask {
 public:
  InsideTask() { inside_task = true; }
  ~InsideTask() { inside_task = false; }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;
};

void run_inline(int64_t tasks, TaskBody body, void* context) {
  for (int64_t task = 0; task < tasks; ++task) body(context, task);
}

// Holds the pool for one call.
class Ownership {
 public:
  explicit Ownership(Pool& pool)
      : pool_(pool),
        held_(!pool.busy.load(std::memory_order_relaxed) &&
              !pool.busy.exchange(true, std::memory_order_acquire)) {}
  ~Ownership() {
    if (held_) pool_.busy.store(false, std::memory_order_release);
  }
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;
  explicit operator bool() const { return held_; }
  void keep_forever() { held_ = false; }

 private:
  Pool& pool_;
  bool held_;
};

void publish(Pool& pool, int tasks, TaskBody body, void* context) {
  pool.body.store(body, std::memory_order_relaxed);
  pool.context.store(context, std::memory_order_relaxed);
  pool.tasks.store(tasks, std::memory_order_relaxed);
  pool.unfinished.store(tasks, std::memory_order_relaxed);
  const uint64_t number = (pool.ticket.load(std::memory_order_relaxed) >> 32) + 1;
  pool.ticket.store(number << 32 | static_cast<uint64_t>(tasks));
}

void rethrow_failure(Pool& pool) {
  pool.failed.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(pool.error, nullptr));
}

void run_on_pool(Pool& pool, int tasks, TaskBody body, void* context) {
  publish(pool, tasks, body, context);
  make_way_for_caller(pool);
  wake_sleepers(pool, tasks - 1);
  pool.unfinished.fetch_sub(run_tasks(pool), std::memory_order_acq_rel);
  wait_for_workers(pool);
  if (pool.failed.load(std::memory_order_relaxed)) rethrow_failure(pool);
}

#if !defined(_WIN32)
// The child of a fork has no workers, and its copy of the pool may be in the middle of a job. It
// starts with a new one and leaves the old as it is, whose threads can be neither joined nor freed.
[[maybe_unused]] const int fork_handler_registered =
    pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
[[maybe_unused]] const int exit_handler_registered = std::atexit(shutdown_threads);
#endif

}  // namespace

void parallel_for(int64_t tasks, TaskBody body, void* context) {
  const int threads = num_threads();
  if (tasks <= 1 || tasks > kMaxTasks || threads == 1 || inside_task) {
    return run_inline(tasks, body, context);
  }
  const InsideTask inside;
  Pool* const pool = pool_object();
  if (pool == nullptr) return run_inline(tasks, body, context);
  const Ownership ownership(*pool);
  if (!ownership) return run_inline(tasks, body, context);
  resize(*pool, threads);
  run_on_pool(*pool, static_cast<int>(tasks), body, context);
}

void set_num_threads(int count) {
  wanted_threads.store(std::max(1, count));
  Pool* pool = current_pool.load();
  if (pool == nullptr) return;
  // Sends superfluous workers home now; if the pool is at work, its next call does it. Workers that
  // could not be started are tried again.
  if (const Ownership ownership(*pool); ownership) {
    if (count < pool->requested) resize(*pool, std::max(1, count));
    pool->requested = static_cast<int>(pool->workers.size()) + 1;
  }
}

int num_threads() {
  int count = wanted_threads.load(std::memory_order_relaxed);
  if (count != 0) return count;
  const int found = default_thread_count().value;
  return wanted_threads.compare_exchange_strong(count, found) ? found : count;
}

void shutdown_threads() {
  Pool* pool = current_pool.load();
  if (pool == nullptr) return;
  if (Ownership ownership(*pool); ownership) {
    resize(*pool, 1);
    ownership.keep_forever();
  }
}

bool worth_threads(int64_t nanoseconds) {
  if (nanoseconds < kWorthAwakeThreads || num_threads() == 1) return false;
  if (nanoseconds >= kWorthSleepingThreads) return true;
  const Pool* pool = current_pool.load(std::memory_order_acquire);
  return pool != nullptr && pool->sleepers.load(std::memory_order_relaxed) <
                                pool->worker_limit.load(std::memory_order_relaxed);
}

Cut cut(int64_t items, Cost cost, int64_t elements_per_item) {
  constexpr int64_t kLightElementsPerChunk = 32768;
  constexpr int64_t kLightElementsPerNanosecond = 4;
  // More tasks than keep any processor busy to the end only interrupt long runs through memory.
  constexpr int64_t kEnoughTasks = 64;
  const int shift = 2 * static_cast<int>(cost);
  const int64_t per_item = std::max<int64_t>(1, elements_per_item);
  const int64_t nanoseconds = (items * per_item << shift) / kLightElementsPerNanosecond;
  const int64_t whole = kLightElementsPerChunk >> shift;
  const int64_t shortest = per_item == 1 ? whole : std::max<int64_t>(1, whole / per_item);
  // The divisions below take as long as adding a few numbers.
  if (items <= shortest) return {items, shortest, items > 0 ? 1 : 0, nanoseconds};
  const int64_t chunk = shortest * std::max<int64_t>(1, items / (shortest * kEnoughTasks));
  return {items, chunk, (items + chunk - 1) / chunk, nanoseconds};
}

}  // namespace extensor
