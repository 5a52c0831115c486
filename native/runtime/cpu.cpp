#include "cpu.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

// The build says which instruction sets it holds. The runtime's own test, compiled without it, has
// no kernels and may take them all for granted.
#ifndef EXTENSOR_HAS_v2
#define EXTENSOR_HAS_v2 1
#define EXTENSOR_HAS_v3 1
#define EXTENSOR_HAS_v4 1
#define EXTENSOR_HAS_v4bf16 1
#endif

namespace extensor {
namespace {

int affinity_cores() {
#if defined(__linux__)
  // A fixed cpu_set_t ends at 1024 CPUs; larger machines need a larger mask.
  for (int cpus = 1024; cpus <= 1 << 18; cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(cpus);
    if (mask == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool read = sched_getaffinity(0, bytes, mask) == 0;
    const int count = read ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (read) return std::max(1, count);
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int cpus_of_quota(double quota, double period) {
  return quota > 0 && period > 0 ? std::max(1, static_cast<int>(std::ceil(quota / period))) : 0;
}

// Zero stands for "no limit" in all of the cgroup functions.
int smaller_limit(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

int unified_limit(const std::string& directory) {
  double quota = 0, period = 0;
  std::ifstream file(directory + "/cpu.max");
  // An unlimited group says "max 100000", which fails to parse as a number.
  return file >> quota >> period ? cpus_of_quota(quota, period) : 0;
}

int legacy_limit(const std::string& directory) {
  double quota = 0, period = 0;
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  return quota_file >> quota && period_file >> period ? cpus_of_quota(quota, period) : 0;
}

// A group is bound by its ancestors too. Inside a container the path may be the host's and not
// exist below the mount; walking up then ends at the mount itself, which is the container's group.
int limit_along_path(int (*limit)(const std::string&), const std::string& mount, std::string path) {
  int result = 0;
  while (!path.empty() && path != "/") {
    result = smaller_limit(result, limit(mount + path));
    path.erase(path.rfind('/'));
  }
  return smaller_limit(result, limit(mount));
}

bool names_cpu_controller(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

// One line of /proc/self/cgroup is "hierarchy:controllers:/path"; version 2 has no controllers.
int limit_of_membership(const std::string& line, const std::string& mount) {
  const size_t first = line.find(':');
  const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return 0;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 1);
  if (!path.empty() && path[0] != '/') return 0;
  if (controllers.empty()) return limit_along_path(unified_limit, mount, path);
  if (!names_cpu_controller(controllers)) return 0;
  return smaller_limit(limit_along_path(legacy_limit, mount + "/cpu", path),
                       limit_along_path(legacy_limit, mount + "/" + controllers, path));
}

const char* environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

constexpr InstructionSet kLevels[] = {InstructionSet::v2, InstructionSet::v3, InstructionSet::v4,
                                      InstructionSet::v4bf16};

bool is_built(InstructionSet level) {
  return (EXTENSOR_HAS_v2 && level == InstructionSet::v2) ||
         (EXTENSOR_HAS_v3 && level == InstructionSet::v3) ||
         (EXTENSOR_HAS_v4 && level == InstructionSet::v4) ||
         (EXTENSOR_HAS_v4bf16 && level == InstructionSet::v4bf16);
}

// The names of the levels up to `best`, as a message lists them.
std::string built_names(InstructionSet best) {
  std::string names;
  for (const auto level : kLevels) {
    if (!is_built(level) || level > best) continue;
    if (!names.empty()) names += ", ";
    names += instruction_set_name(level);
  }
  return names.empty() ? "baseline" : names;
}

}  // namespace

const char* instruction_set_name(InstructionSet level) {
  switch (level) {
    case InstructionSet::v2:
      return "v2";
    case InstructionSet::v3:
      return "v3";
    case InstructionSet::v4:
      return "v4";
    case InstructionSet::v4bf16:
      return "v4bf16";
    default:
      return "baseline";
  }
}

InstructionSet detect_instruction_set() {
#if defined(__x86_64__)
  // The compiler's runtime asks cpuid, and XGETBV whether the system saves the wide registers.
  if (is_built(InstructionSet::v4bf16) && __builtin_cpu_supports("x86-64-v4") &&
      __builtin_cpu_supports("avx512bf16")) {
    return InstructionSet::v4bf16;
  }
  if (is_built(InstructionSet::v4) && __builtin_cpu_supports("x86-64-v4")) {
    return InstructionSet::v4;
  }
  if (is_built(InstructionSet::v3) && __builtin_cpu_supports("x86-64-v3")) {
    return InstructionSet::v3;
  }
  if (is_built(InstructionSet::v2) && __builtin_cpu_supports("x86-64-v2")) {
    return InstructionSet::v2;
  }
#endif
  return InstructionSet::baseline;
}

Setting<InstructionSet> choose_instruction_set() {
  const InstructionSet best = detect_instruction_set();
#if defined(__x86_64__)
  if (best == InstructionSet::baseline) {
    return {best,
            "extensor: processor must support an instruction set of this build, got one "
            "without " +
                built_names(InstructionSet::v4bf16)};
  }
#endif
  const char* wanted = environment("EXTENSOR_ISA");
  if (wanted == nullptr || std::strcmp(wanted, instruction_set_name(best)) == 0) return {best, ""};
  for (const auto level : kLevels) {
    if (std::strcmp(wanted, instruction_set_name(level)) == 0 && is_built(level) && level < best) {
      return {level, ""};
    }
  }
  return {best, "extensor: instruction set must be one this processor supports (" +
                    built_names(best) + "), got EXTENSOR_ISA=" + wanted};
}

int available_cores() {
#if defined(__linux__)
  return smaller_limit(affinity_cores(), cgroup_cpu_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
#else
  return affinity_cores();
#endif
}

int cgroup_cpu_limit(const std::string& membership_file, const std::string& mount_directory) {
  int limit = 0;
  std::ifstream file(membership_file);
  for (std::string line; std::getline(file, line);) {
    limit = smaller_limit(limit, limit_of_membership(line, mount_directory));
  }
  return limit;
}

Setting<int> default_thread_count() {
  const int cores = available_cores();
  const char* text = environment("EXTENSOR_NUM_THREADS");
  if (text == nullptr) return {cores, ""};
  int wanted = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, wanted);
  if (parsed.ec == std::errc() && parsed.ptr == end && wanted >= 1) {
    return {std::min(cores, wanted), ""};
  }
  return {cores, std::string("extensor: number of threads must be a positive integer, got "
                             "EXTENSOR_NUM_THREADS=") +
                     text};
}

}  // namespace extensor
