// gemm_bench test [scale]     check gemm against a naive reference
// gemm_bench test-bfloat16    check the products of bfloat16 alone
// gemm_bench peak             measure the FMA peak of one core, GF/s
// gemm_bench serve            time ours; reads "m k n layout threads seconds" lines, prints seconds
// gemm_bench serve library sgemm sgemv
//                             time these Fortran functions (64-bit sizes if they end in 64_)
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../../native/kernels/matrix/gemm.h"

#ifndef EX_ISA
#define EX_ISA v3
#endif

using namespace extensor;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The calling thread and one helper, which spins for a moment before it sleeps. Tasks go round
// robin so that a thread meets its own part of the operands again.
class TwoThreads {
 public:
  TwoThreads() : helper_([this] { work(); }) {}
  ~TwoThreads() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    helper_.join();
  }

  void run(int64_t tasks, void (*body)(void*, int64_t), void* context) {
    if (tasks == 1) return body(context, 0);
    {
      std::lock_guard lock(mutex_);
      tasks_ = tasks;
      body_ = body;
      context_ = context;
      done_ = false;
      ++generation_;
    }
    if (asleep_) wake_.notify_one();
    for (int64_t task = 0; task < tasks; task += 2) body(context, task);
    while (!done_.load(std::memory_order_acquire)) __builtin_ia32_pause();
  }

 private:
  void work() {
    int64_t seen = 0;
    while (true) {
      for (int spin = 0; spin < 20000 && generation_ == seen && !stop_; ++spin) {
        __builtin_ia32_pause();
      }
      {
        std::unique_lock lock(mutex_);
        asleep_ = true;
        wake_.wait(lock, [&] { return generation_ != seen || stop_; });
        asleep_ = false;
        if (stop_) return;
        seen = generation_;
      }
      for (int64_t task = 1; task < tasks_; task += 2) body_(context_, task);
      done_.store(true, std::memory_order_release);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int64_t> generation_ = 0;
  std::atomic<bool> stop_ = false, done_ = true, asleep_ = false;
  int64_t tasks_ = 0;
  void (*body_)(void*, int64_t) = nullptr;
  void* context_ = nullptr;
  std::thread helper_;
};

void two_threads(int64_t tasks, void (*body)(void*, int64_t), void* context) {
  static TwoThreads pool;
  pool.run(tasks, body, context);
}

void backwards(int64_t tasks, void (*body)(void*, int64_t), void* context) {
  for (int64_t task = tasks; task-- > 0;) body(context, task);
}

// ---- correctness

using Random = std::mt19937;

double value_of(float x) { return x; }
double value_of(double x) { return x; }
double value_of(BFloat16 x) {
  uint32_t bits = static_cast<uint32_t>(x) << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

template <typename T>
T make_value(Random& random) {
  float x = std::uniform_real_distribution<float>(-1, 1)(random);
  if constexpr (sizeof(T) != 2) return static_cast<T>(x);
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return static_cast<T>(bits >> 16);
}

// A matrix somewhere inside exactly allocated memory, so that a sanitizer sees every step outside.
template <typename T>
struct Matrix {
  std::vector<T> memory;
  const T* data = nullptr;
  int64_t row = 0, column = 0;

  double at(int64_t i, int64_t j) const { return value_of(data[i * row + j * column]); }
};

enum Layout {
  normal,
  transposed,
  negative_rows,
  negative_columns,
  strided,
  zero_rows,
  zero_columns
};
constexpr int kLayouts = 7;

template <typename T>
Matrix<T> make_matrix(Random& random, int64_t rows, int64_t columns, int layout) {
  Matrix<T> x;
  int64_t pad = random() % 3;
  x.row = columns + pad;
  x.column = 1;
  if (layout == transposed) x.row = 1, x.column = rows + pad;
  if (layout == negative_rows) x.row = -x.row;
  if (layout == negative_columns) x.column = -1;
  if (layout == strided) x.row = 2 * columns + 1, x.column = 2;
  if (layout == zero_rows) x.row = 0;
  if (layout == zero_columns) x.row = 1, x.column = 0;
  int64_t low = 0, high = 0;
  if (rows > 0 && columns > 0) {
    int64_t last_row = (rows - 1) * x.row, last_column = (columns - 1) * x.column;
    low = std::min<int64_t>(last_row, 0) + std::min<int64_t>(last_column, 0);
    high = std::max<int64_t>(last_row, 0) + std::max<int64_t>(last_column, 0) + 1;
  }
  x.memory.resize(high - low);
  x.memory.shrink_to_fit();
  for (T& value : x.memory) value = make_value<T>(random);
  x.data = x.memory.data() - low;
  return x;
}

int failures = 0;

template <typename T>
void check(Random& random, int64_t m, int64_t n, int64_t k, int a_layout, int b_layout) {
  using Result = typename Gemm<T>::Result;
  Matrix<T> a = make_matrix<T>(random, m, k, a_layout);
  Matrix<T> b = make_matrix<T>(random, k, n, b_layout);
  std::vector<Result> bias(n), old(m * n);
  for (auto& x : bias) x = make_value<Result>(random);
  for (auto& x : old) x = make_value<Result>(random);
  Gemm<T> p{.m = m,
            .n = n,
            .k = k,
            .a = a.data,
            .a_row = a.row,
            .a_column = a.column,
            .b = b.data,
            .b_row = b.row,
            .b_column = b.column,
            .c_row = n + int64_t(random() % 3)};
  p.bias = random() % 2 ? bias.data() : nullptr;
  p.accumulate = random() % 2;
  p.epilogue = random() % 2 ? Epilogue::relu : Epilogue::none;
  const Result nan = std::numeric_limits<Result>::quiet_NaN();
  int64_t size = m > 0 && n > 0 ? (m - 1) * p.c_row + n : 0;
  std::vector<Result> c(size, nan), serial(size, nan);
  auto fill = [&](std::vector<Result>& target) {
    if (!p.accumulate) return;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) target[i * p.c_row + j] = old[i * n + j];
    }
  };
  fill(c);
  fill(serial);
  p.c = c.data();
  EX_ISA::gemm(p, {8, backwards});
  p.c = serial.data();
  EX_ISA::gemm(p, {});
  bool same = size == 0 || memcmp(c.data(), serial.data(), size * sizeof(Result)) == 0;
  double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      long double sum = p.accumulate ? old[i * n + j] : 0, scale = std::abs(sum);
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<long double>(a.at(i, l)) * b.at(l, j);
        scale += std::abs(a.at(i, l) * b.at(l, j));
      }
      if (p.bias) sum += bias[j], scale += std::abs(bias[j]);
      if (p.epilogue == Epilogue::relu) sum = std::max(sum, 0.0L);
      double error = std::abs(c[i * p.c_row + j] - sum);
      double unit = scale * std::numeric_limits<Result>::epsilon() + 1e-300;
      worst = std::max(worst, std::isnan(error) ? 1e9 : error / unit);
    }
    for (int64_t j = n; n > 0 && j < p.c_row && i + 1 < m; ++j)
      same &= std::isnan(c[i * p.c_row + j]);
  }
  // Equal terms, from zero strides, round the same way each time.
  bool repeats = a_layout >= zero_rows || b_layout >= zero_rows;
  if (!same || worst > (repeats ? 300 : 30)) {
    if (++failures < 20) {
      printf("FAIL %zu bytes m=%ld n=%ld k=%ld layouts %d %d same=%d error=%g\n", sizeof(T), m, n,
             k, a_layout, b_layout, same, worst);
    }
  }
}

template <typename T>
void check_layouts_agree(Random& random, int64_t m, int64_t n, int64_t k) {
  using Result = typename Gemm<T>::Result;
  Matrix<T> a = make_matrix<T>(random, m, k, normal), b = make_matrix<T>(random, k, n, normal);
  Matrix<T> a2 = a, b2 = b;
  a2.memory.assign(m * k, T{}), b2.memory.assign(k * n, T{});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) a2.memory[l * m + i] = a.data[i * a.row + l];
  }
  for (int64_t l = 0; l < k; ++l) {
    for (int64_t j = 0; j < n; ++j) b2.memory[j * k + l] = b.data[l * b.row + j];
  }
  std::vector<Result> c(m * n), c2(m * n);
  Gemm<T> p{.m = m,
            .n = n,
            .k = k,
            .a = a.data,
            .a_row = a.row,
            .a_column = 1,
            .b = b.data,
            .b_row = b.row,
            .b_column = 1,
            .c = c.data(),
            .c_row = n};
  EX_ISA::gemm(p, {2, two_threads});
  p.a = a2.memory.data(), p.a_row = 1, p.a_column = m;
  p.b = b2.memory.data(), p.b_row = 1, p.b_column = k;
  p.c = c2.data();
  EX_ISA::gemm(p, {});
  if (memcmp(c.data(), c2.data(), c.size() * sizeof(Result)) != 0) {
    ++failures;
    printf("FAIL layouts differ %zu bytes m=%ld n=%ld k=%ld\n", sizeof(T), m, n, k);
  }
}

template <typename T>
void check_batch(Random& random, int64_t batch, int64_t m, int64_t n, int64_t k, bool one_b) {
  std::vector<T> a(batch * m * k), b((one_b ? 1 : batch) * k * n), c(batch * m * n), d(m * n);
  for (auto& x : a) x = make_value<T>(random);
  for (auto& x : b) x = make_value<T>(random);
  Gemm<T> p{.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .a_row = k,
            .b = b.data(),
            .b_row = n,
            .c = c.data(),
            .c_row = n,
            .batch = batch,
            .a_batch = m * k,
            .b_batch = one_b ? 0 : k * n,
            .c_batch = m * n};
  EX_ISA::gemm(p, {2, two_threads});
  Gemm<T> one = p;
  one.batch = 1;
  one.c = d.data();
  for (int64_t i = 0; i < batch; ++i) {
    one.a = a.data() + i * p.a_batch;
    one.b = b.data() + i * p.b_batch;
    EX_ISA::gemm(one, {});
    if (memcmp(d.data(), c.data() + i * m * n, d.size() * sizeof(T)) != 0) {
      ++failures;
      printf("FAIL batch %ld of %ld m=%ld n=%ld k=%ld\n", i, batch, m, n, k);
      return;
    }
  }
}

void check_special_values() {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (int64_t n : {1, 7, 16, 33}) {
    for (int64_t m : {1, 5, 6, 20}) {
      std::vector<float> a(m * 9, 1), b(9 * n, 0), c(m * n, nan);
      a[0] = infinity;
      a[(m - 1) * 9 + 3] = nan;
      Gemm<float> p{.m = m,
                    .n = n,
                    .k = 9,
                    .a = a.data(),
                    .a_row = 9,
                    .b = b.data(),
                    .b_row = n,
                    .c = c.data(),
                    .c_row = n,
                    .epilogue = Epilogue::relu};
      EX_ISA::gemm(p, {});
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          bool expected = i == 0 || i == m - 1;
          if (std::isnan(c[i * n + j]) != expected) ++failures, printf("FAIL special values\n");
        }
      }
    }
  }
}

template <typename T>
void check_type(Random& random, int scale) {
  const int64_t edges[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16,
                           17, 23, 24, 25, 31, 32, 33, 37, 48, 49, 63, 64, 65, 70};
  for (int64_t m : edges) {
    for (int64_t n : edges) {
      for (int i = 0; i < 3; ++i) {
        int64_t k = edges[random() % std::size(edges)];
        check<T>(random, m, n, k, random() % kLayouts, random() % kLayouts);
      }
    }
  }
  const int64_t large[] = {1, 6, 95, 129, 255, 257, 319, 320, 321, 383, 384, 385, 640, 641, 777};
  for (int i = 0; i < 40 * scale; ++i) {
    auto pick = [&] { return large[random() % std::size(large)]; };
    check<T>(random, pick(), pick(), pick(), random() % kLayouts, random() % kLayouts);
  }
  for (auto [m, n] : {std::pair{1, 1}, {1, 7}, {3, 1}, {1, 1500}, {1500, 1}, {5, 9}, {16, 10}}) {
    for (int64_t k : {2000, m * n > 200 ? 4321 : 51234}) {
      for (int a = 0; a < kLayouts; ++a) {
        for (int b = 0; b < kLayouts; ++b) {
          if (scale > 1 || (a + b) % 3 == 0) check<T>(random, m, n, k, a, b);
        }
      }
      if (m > 1 && n > 1) check_layouts_agree<T>(random, m, n, k);
    }
  }
  for (int i = 0; i < 10 * scale; ++i) {
    check_layouts_agree<T>(random, 2 + random() % 400, 2 + random() % 400, 1 + random() % 1000);
  }
}

int report() {
  printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}

int test_bfloat16() {
  Random random(1);
  check_type<BFloat16>(random, 1);
  return report();
}

int test(int scale) {
  Random random(1);
  check_special_values();
  check_type<float>(random, scale);
  check_type<double>(random, scale);
  check_type<BFloat16>(random, scale);
  for (bool one_b : {false, true}) {
    check_batch<float>(random, 64, 64, 64, 32, one_b);
    check_batch<float>(random, 7, 300, 200, 100, one_b);
    check_batch<float>(random, 33, 1, 50, 20, one_b);
    check_batch<float>(random, 33, 50, 1, 20, one_b);
    check_batch<double>(random, 5, 9, 1, 20, one_b);
  }
  return report();
}

// ---- speed

double peak() {
#if defined(__AVX2__)
  typedef float V __attribute__((vector_size(32)));
  double best = 0;
  for (int trial = 0; trial < 20; ++trial) {
    V s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, x = V{} + 1e-9f;
    const int64_t rounds = 2000000;
    auto start = Clock::now();
    for (int64_t i = 0; i < rounds; ++i) {
      asm volatile(
          "vfmadd231ps %10, %10, %0\n vfmadd231ps %10, %10, %1\n vfmadd231ps %10, %10, %2\n"
          "vfmadd231ps %10, %10, %3\n vfmadd231ps %10, %10, %4\n vfmadd231ps %10, %10, %5\n"
          "vfmadd231ps %10, %10, %6\n vfmadd231ps %10, %10, %7\n vfmadd231ps %10, %10, %8\n"
          "vfmadd231ps %10, %10, %9\n"
          : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7),
            "+x"(s8), "+x"(s9)
          : "x"(x));
    }
    best = std::max(best, rounds * 10 * 16 / seconds_since(start) * 1e-9);
  }
  return best;
#else
  return 0;
#endif
}

struct Job {
  int64_t m, k, n;
  char layout[8];
  int threads;
  double seconds;
};

template <typename Call>
double best_time(const Job& job, Call call) {
  const double flops = 2.0 * job.m * job.n * job.k;
  const int64_t repeats = std::max<int64_t>(1, int64_t(1e7 / flops));
  double best = 1e9;
  call();
  auto start = Clock::now();
  do {
    auto begin = Clock::now();
    for (int64_t i = 0; i < repeats; ++i) call();
    best = std::min(best, seconds_since(begin) / repeats);
  } while (seconds_since(start) < job.seconds);
  return best;
}

// On cache lines, as the arrays of every library are.
class Aligned {
 public:
  explicit Aligned(int64_t size) : memory_(size + 16, 0.5f) {}
  float* data() { return memory_.data() + (-reinterpret_cast<uintptr_t>(memory_.data()) % 64) / 4; }

 private:
  std::vector<float> memory_;
};

struct Operands {
  explicit Operands(const Job& job) : a(job.m * job.k), b(job.k * job.n), c(job.m * job.n) {
    Random random(2);
    for (int64_t i = 0; i < job.m * job.k; ++i) a.data()[i] = make_value<float>(random);
    for (int64_t i = 0; i < job.k * job.n; ++i) b.data()[i] = make_value<float>(random);
  }
  Aligned a, b, c;
};

double time_ours(const Job& job) {
  Operands x(job);
  const bool a_turned = job.layout[0] == 'T', b_turned = job.layout[1] == 'T';
  Gemm<float> p{.m = job.m,
                .n = job.n,
                .k = job.k,
                .a = x.a.data(),
                .a_row = a_turned ? 1 : job.k,
                .a_column = a_turned ? job.m : 1,
                .b = x.b.data(),
                .b_row = b_turned ? 1 : job.n,
                .b_column = b_turned ? job.k : 1,
                .c = x.c.data(),
                .c_row = job.n};
  const Workers workers{job.threads, job.threads > 1 ? two_threads : nullptr};
  return best_time(job, [&] { EX_ISA::gemm(p, workers); });
}

// Fortran BLAS sees row-major matrices as their transposes: it computes C' = B' A'.
template <typename Int>
double time_blas(const Job& job, void* symbol) {
  using Function = void (*)(const char*, const char*, const Int*, const Int*, const Int*,
                            const float*, const float*, const Int*, const float*, const Int*,
                            const float*, float*, const Int*);
  auto gemm = reinterpret_cast<Function>(symbol);
  Operands x(job);
  const bool a_turned = job.layout[0] == 'T', b_turned = job.layout[1] == 'T';
  const Int m = job.m, n = job.n, k = job.k, a_row = a_turned ? m : k, b_row = b_turned ? k : n;
  const float one = 1, zero = 0;
  return best_time(job, [&] {
    gemm(b_turned ? "T" : "N", a_turned ? "T" : "N", &n, &m, &k, &one, x.b.data(), &b_row,
         x.a.data(), &a_row, &zero, x.c.data(), &n);
  });
}

template <typename Int>
double time_blas_vector(const Job& job, void* symbol) {
  using Function = void (*)(const char*, const Int*, const Int*, const float*, const float*,
                            const Int*, const float*, const Int*, const float*, float*, const Int*);
  auto gemv = reinterpret_cast<Function>(symbol);
  Operands x(job);
  const bool turned = job.layout[1] == 'T';
  const Int rows = turned ? job.k : job.n, columns = turned ? job.n : job.k, step = 1;
  const float one = 1, zero = 0;
  return best_time(job, [&] {
    gemv(turned ? "T" : "N", &rows, &columns, &one, x.b.data(), &rows, x.a.data(), &step, &zero,
         x.c.data(), &step);
  });
}

// The better of gemm and gemv, where both can do the job.
template <typename Int>
double time_peer(const Job& job, void* gemm, void* gemv) {
  double best = time_blas<Int>(job, gemm);
  return job.m == 1 ? std::min(best, time_blas_vector<Int>(job, gemv)) : best;
}

int serve(const char* library, const char* gemm_name, const char* gemv_name) {
  void *gemm = nullptr, *gemv = nullptr;
  if (library) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    gemm = handle ? dlsym(handle, gemm_name) : nullptr;
    gemv = handle ? dlsym(handle, gemv_name) : nullptr;
    if (!gemm || !gemv) return fprintf(stderr, "%s\n", dlerror()), 1;
  }
  const bool wide = std::string(gemm_name).ends_with("64_");
  Job job;
  while (scanf("%ld %ld %ld %7s %d %lf", &job.m, &job.k, &job.n, job.layout, &job.threads,
               &job.seconds) == 6) {
    double seconds = !library ? time_ours(job)
                     : wide   ? time_peer<int64_t>(job, gemm, gemv)
                              : time_peer<int>(job, gemm, gemv);
    printf("%.9g\n", seconds);
    fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  std::string command = count > 1 ? words[1] : "";
  if (command == "test") return test(count > 2 ? atoi(words[2]) : 4);
  if (command == "test-bfloat16") return test_bfloat16();
  if (command == "peak") return printf("%.1f\n", peak()), 0;
  if (command == "serve" && count == 2) return serve(nullptr, "", "");
  if (command == "serve" && count == 5) return serve(words[2], words[3], words[4]);
  fprintf(stderr, "usage: gemm_bench test|test-bfloat16|peak|serve [library sgemm sgemv]\n");
  return 2;
}
