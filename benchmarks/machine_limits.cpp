// The limits of this machine: float32 multiply-adds per second, and bytes per second by working
// set. Usage: machine_limits THREADS SECONDS. Prints JSON.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__AVX512F__)
constexpr int width = 16;
#elif defined(__AVX__)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * width)));

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs work(thread) on all threads at once; the seconds of the slowest.
static double together(int threads, const std::function<void(int)>& work) {
  std::vector<double> seconds(threads);
  std::barrier start(threads);
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread) {
    pool.emplace_back([&, thread] {
      start.arrive_and_wait();
      double begin = now();
      work(thread);
      seconds[thread] = now() - begin;
    });
  }
  for (auto& thread : pool) thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// Enough independent sums to hide a latency of four or five cycles on two units.
constexpr int chains = 12;

static void multiply_add(long steps, float* sink) {
  Vector sums[chains];
  Vector factor, term;
  for (int i = 0; i < width; ++i) {
    factor[i] = 0.999f;
    term[i] = 0.001f;
  }
  for (int i = 0; i < chains; ++i) sums[i] = term * float(i);
  for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + term;
  }
  for (auto& sum : sums) *sink += sum[0];
}

// c += a + b: every line that is written was read before, so all traffic counts. (A line that is
// only written is read all the same, by the processor.)
static void add(const float* a, const float* b, float* c, long count) {
  for (long i = 0; i < count; ++i) c[i] += a[i] + b[i];
  asm volatile("" : : "r"(c) : "memory");
}

static double flops(int threads, double seconds) {
  long steps = 1 << 16;
  std::vector<float> sinks(threads * 16);
  double best = 0;
  for (double end = now() + seconds; now() < end;) {
    double took = together(threads, [&](int i) { multiply_add(steps, &sinks[16 * i]); });
    best = std::max(best, 2.0 * width * chains * steps * threads / took);
    if (took < 2e-3) steps *= 2;
  }
  return best;
}

constexpr long huge_page = 2L << 20;

static double bandwidth(int threads, long bytes, double seconds) {
  long count = std::max(64L, bytes / 12 / threads);
  std::vector<float*> arrays;
  for (int i = 0; i < 3 * threads; ++i) {
    const size_t page = 4 * count < huge_page ? 4096 : huge_page;
    const size_t size = (4 * count + page - 1) / page * page;
    arrays.push_back(static_cast<float*>(std::aligned_alloc(page, size)));
#if defined(MADV_HUGEPAGE)
    if (page == huge_page) madvise(arrays.back(), size, MADV_HUGEPAGE);
#endif
    std::memset(arrays.back(), 0, size);
  }
  long repeats = std::max(1L, (1L << 20) / count);
  double best = 0;
  for (double end = now() + seconds; now() < end;) {
    double took = together(threads, [&](int i) {
      for (long r = 0; r < repeats; ++r) {
        add(arrays[3 * i], arrays[3 * i + 1], arrays[3 * i + 2], count);
      }
    });
    best = std::max(best, 16.0 * count * repeats * threads / took);
  }
  for (float* array : arrays) std::free(array);
  return best;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  double seconds = argc > 2 ? std::atof(argv[2]) : 0.2;
  std::printf("{\"flops\": %.6g, \"bandwidth\": [", flops(threads, seconds));
  const char* comma = "";
  for (long bytes = 1L << 14; bytes <= 1L << 28; bytes *= 4) {
    std::printf("%s[%ld, %.6g]", comma, bytes, bandwidth(threads, bytes, seconds));
    comma = ", ";
  }
  std::printf("]}\n");
}
