// Stress test of the runtime layer, without Python, to be run plain and under the sanitizers:
//   g++ -std=c++20 -O1 -g -fsanitize=thread -pthread -I native tests/native/runtime_test.cpp
//       native/runtime/*.cpp -o runtime_test && ./runtime_test
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

using namespace extensor;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                       \
    }                                                                      \
  } while (false)

namespace {

void each_task_runs_once(int64_t tasks) {
  // Plain integers: a task run twice or unseen by the caller is also a data race.
  std::vector<int> runs(static_cast<size_t>(tasks), 0);
  parallel_for(tasks, [&](int64_t task) { ++runs[static_cast<size_t>(task)]; });
  for (const int count : runs) CHECK(count == 1);
}

void nested_calls_run_inline() {
  std::vector<int> order[8];
  parallel_for(8, [&](int64_t outer) {
    const auto thread = std::this_thread::get_id();
    parallel_for(5, [&](int64_t inner) {
      CHECK(std::this_thread::get_id() == thread);
      order[outer].push_back(static_cast<int>(inner));
    });
  });
  for (const auto& inner : order) CHECK((inner == std::vector<int>{0, 1, 2, 3, 4}));
}

void exceptions_reach_the_caller() {
  for (int64_t thrower = 0; thrower < 20; ++thrower) {
    bool caught = false;
    try {
      parallel_for(20, [&](int64_t task) {
        if (task == thrower) throw std::runtime_error("task");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    each_task_runs_once(20);
  }
}

void many_callers_with_resizes() {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([caller] {
      std::mt19937 random(static_cast<unsigned>(caller));
      for (int i = 0; i < 1500; ++i) {
        each_task_runs_once(random() % 40);
        if (i % 50 == 0) nested_calls_run_inline();
        if (caller == 0 && i % 20 == 0) set_num_threads(1 + static_cast<int>(random() % 6));
        if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

void forks_do_not_deadlock() {
#if !defined(__SANITIZE_THREAD__)
  set_num_threads(3);
  std::atomic<bool> stop{false};
  std::thread background([&] {
    while (!stop) {
      each_task_runs_once(50);
      release_block(allocate_block(100));
    }
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int repeat = 0; repeat < 20; ++repeat) each_task_runs_once(50);
      release_block(allocate_block(5000));
#if !defined(__SANITIZE_ADDRESS__)
      // Not with the leak checker: it would report what threads the child lacks were using.
      if (i % 2 == 0) std::exit(0);
#endif
      std::_Exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  stop = true;
  background.join();
#endif
}

void cuts_cover_everything_for_any_thread_count() {
  for (const int64_t items : {0, 1, 2047, 32768, 32769, 500000}) {
    for (const Cost cost : {Cost::light, Cost::medium, Cost::heavy}) {
      for (const int64_t per_item : {1, 7, 100000}) {
        const Cut one = cut(items, cost, per_item);
        int64_t covered = 0;
        for (int64_t task = 0; task < one.tasks; ++task) {
          covered += std::min(one.chunk, items - task * one.chunk);
        }
        CHECK(covered == items && one.chunk >= 1);
      }
    }
  }
  std::vector<int> seen(1 << 20, 0);
  parallel_chunks(cut(1 << 20, Cost::light), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  for (const int count : seen) CHECK(count == 1);
}

void memory_churn(unsigned seed) {
  struct Piece {
    unsigned char* data;
    size_t bytes;
  };
  std::mt19937 random(seed);
  std::vector<Piece> pieces;
  for (int i = 0; i < 4000; ++i) {
    const size_t bytes = random() % (i % 100 == 0 ? 6'000'000 : 3000);
    auto* data = static_cast<unsigned char*>(allocate_block(bytes));
    CHECK(data != nullptr && reinterpret_cast<uintptr_t>(data) % kBlockAlignment == 0);
    std::memset(data, static_cast<int>(seed), bytes);
    pieces.push_back({data, bytes});
    if (pieces.size() < 30) continue;
    std::swap(pieces[random() % 30], pieces.back());
    Piece piece = pieces.back();
    pieces.pop_back();
    const size_t resized = random() % 4000;
    piece.data = static_cast<unsigned char*>(reallocate_block(piece.data, resized));
    for (size_t k = 0; k < std::min(resized, piece.bytes); ++k) CHECK(piece.data[k] == seed);
    release_block(piece.data);
    if (i % 500 == 0) trim_memory();
  }
  for (const Piece& piece : pieces) release_block(piece.data);
}

void memory_is_accounted_for() {
  const MemoryStatistics before = memory_statistics();
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(memory_churn, seed);
  for (auto& thread : threads) thread.join();
  const MemoryStatistics after = memory_statistics();
  CHECK(after.in_use == before.in_use && after.peak_in_use > before.peak_in_use);
  CHECK(after.hits + after.misses == after.allocations);
  set_memory_cache_limit(0);
  release_block(allocate_block(1000));
  CHECK(memory_statistics().cached == 0);
  set_memory_cache_limit(size_t{1} << 30);
  CHECK(allocate_block(size_t{1} << 60) == nullptr);
  for (size_t bytes = 0; bytes < 70000; bytes += 13) release_block(allocate_zeroed_block(bytes));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void cgroup_limits_are_read() {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("extensor_cgroup_" + std::to_string(getpid()));
  const std::string member = root / "self", mount = root / "mount";
  CHECK(cgroup_cpu_limit(member, mount) == 0);
  write_file(member, "0::/job/step\n");
  CHECK(cgroup_cpu_limit(member, mount) == 0);
  write_file(root / "mount/job/step/cpu.max", "max 100000\n");
  CHECK(cgroup_cpu_limit(member, mount) == 0);
  write_file(root / "mount/job/cpu.max", "350000 100000\n");
  CHECK(cgroup_cpu_limit(member, mount) == 4);
  write_file(root / "mount/cpu.max", "50000 100000\n");
  CHECK(cgroup_cpu_limit(member, mount) == 1);
  write_file(member, "4:memory:/x\n3:cpu,cpuacct:/docker/1\n");
  write_file(root / "mount/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write_file(root / "mount/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  CHECK(cgroup_cpu_limit(member, mount) == 0);
  write_file(root / "mount/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  CHECK(cgroup_cpu_limit(member, mount) == 2);
  std::filesystem::remove_all(root);
}

void environment_is_checked() {
  setenv("EXTENSOR_NUM_THREADS", "1", 1);
  CHECK(default_thread_count().value == 1 && default_thread_count().error.empty());
  for (const char* wrong : {"0", "-2", "two", "3x", "99999999999"}) {
    setenv("EXTENSOR_NUM_THREADS", wrong, 1);
    CHECK(default_thread_count().error ==
          std::string("extensor: number of threads must be a positive integer, got "
                      "EXTENSOR_NUM_THREADS=") +
              wrong);
    CHECK(default_thread_count().value == available_cores());
  }
  unsetenv("EXTENSOR_NUM_THREADS");
  setenv("EXTENSOR_ISA", "v9", 1);
  CHECK(!choose_instruction_set().error.empty());
  CHECK(choose_instruction_set().value == detect_instruction_set());
  unsetenv("EXTENSOR_ISA");
}

}  // namespace

int main() {
  cgroup_limits_are_read();
  environment_is_checked();
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    CHECK(num_threads() == threads);
    for (const int64_t tasks : {0, 1, 2, 3, 100, 5000}) each_task_runs_once(tasks);
    nested_calls_run_inline();
    exceptions_reach_the_caller();
    cuts_cover_everything_for_any_thread_count();
  }
  many_callers_with_resizes();
  memory_is_accounted_for();
  forks_do_not_deadlock();
  shutdown_threads();
  each_task_runs_once(10);
  std::puts("runtime: all checks passed");
}
