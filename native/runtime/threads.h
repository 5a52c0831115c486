// A pool of worker threads and the rules by which kernels cut their work.
//
// Work is cut into tasks by the caller: as a function of shape only where the cut decides an order
// of summation, by the number of threads where it changes no bit. The pool merely decides who runs
// which task. So results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace extensor {

using TaskBody = void (*)(void* context, int64_t task);

// Runs body(context, 0) ... body(context, tasks - 1), each once, on the calling thread and the
// pool's workers, and returns when all are done. Runs everything inline, in order, when called from
// inside a task (of a call with more than one), while another thread has the pool, or if there is
// no memory for one. If a task throws, tasks not yet begun are skipped and the first exception is
// thrown again here, on the calling thread; nothing else is. A task must not fork.
void parallel_for(int64_t tasks, TaskBody body, void* context);

template <std::invocable<int64_t> Body>
void parallel_for(int64_t tasks, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  parallel_for(
      tasks, [](void* context, int64_t task) { (*static_cast<Callable*>(context))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

// Threads that work on a parallel_for, the calling one included. Starts as default_thread_count();
// a change takes effect with the next parallel_for that gets the pool. Counts below 1 mean 1.
void set_num_threads(int count);
int num_threads();

// Joins the workers if the pool is idle; later parallel_for calls run inline. Called at exit.
void shutdown_threads();

// How long one element takes, in powers of four: an estimate per kernel, not per machine.
enum class Cost {
  light,   // add, relu, copy: about 0.25 ns, bound by memory
  medium,  // exp, tanh, sigmoid: about 1 ns
  heavy,   // erf, pow, random numbers, strided gathers: about 4 ns
};

// Consecutive ranges of `chunk` items, the last one shorter, and how long they all take on one
// thread.
struct Cut {
  int64_t items;
  int64_t chunk;
  int64_t tasks;
  int64_t nanoseconds;
};

// Cuts `items`, each of `elements_per_item` elements, into chunks of 8 microseconds or, of much
// work, longer ones. A chunk of single elements is a multiple of 2048, so no two tasks write to one
// cache line of a 64-byte aligned array.
Cut cut(int64_t items, Cost cost, int64_t elements_per_item);

// The same for single elements, without divisions where there is little work.
inline Cut cut(int64_t items, Cost cost) {
  constexpr int64_t kLightElementsPerChunk = 32768, kLightElementsPerNanosecond = 4;
  const int shift = 2 * static_cast<int>(cost);
  const int64_t chunk = kLightElementsPerChunk >> shift;
  if (items > chunk) return cut(items, cost, 1);
  return {items, chunk, items > 0 ? 1 : 0, (items << shift) / kLightElementsPerNanosecond};
}

// The same for rows that are reduced to a number: waiting for it takes as long as 16 elements more.
inline Cut cut_reduced_rows(int64_t rows, int64_t n) { return cut(rows, Cost::medium, n + 16); }

// Whether work of this length is finished sooner with the pool. Threads asleep must be woken, which
// takes longer than a small job; this may change who runs a task, never what the tasks are.
bool worth_threads(int64_t nanoseconds);

// Calls body(begin, end) for every chunk, inline and in the same order when threads do not pay.
template <std::invocable<int64_t, int64_t> Body>
void parallel_chunks(const Cut& cut, Body&& body) {
  const auto run_chunk = [&](int64_t task) {
    const int64_t begin = task * cut.chunk;
    body(begin, std::min(begin + cut.chunk, cut.items));
  };
  if (cut.tasks > 1 && worth_threads(cut.nanoseconds)) return parallel_for(cut.tasks, run_chunk);
  for (int64_t task = 0; task < cut.tasks; ++task) run_chunk(task);
}

}  // namespace extensor
