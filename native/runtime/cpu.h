// What this machine offers: instruction set level and number of usable cores.
#pragma once

#include <string>

namespace extensor {

// The x86-64 micro-architecture levels kernels are compiled for; `v4bf16` is v4 whose products of
// bfloat16 use AVX512-BF16, `baseline` is any other processor.
enum class InstructionSet { baseline, v2, v3, v4, v4bf16 };

// A value read from the machine or the environment. `error` is empty unless an environment variable
// holds something unusable; `value` is then what it would have been without the variable, and the
// text is for Python to raise.
template <class T>
struct Setting {
  T value;
  std::string error;
};

const char* instruction_set_name(InstructionSet level);

// The best level this processor and operating system support.
InstructionSet detect_instruction_set();

// The detected level, or a lower one asked for by EXTENSOR_ISA (v2, v3, v4, v4bf16 or baseline).
Setting<InstructionSet> choose_instruction_set();

// Cores this process may run on at once: the smaller of its affinity mask and its cgroup CPU quota.
int available_cores();

// Number of CPUs worth of time granted by the cgroups of a process, rounded up; 0 if unlimited.
// The arguments are the files to read (/proc/self/cgroup, /sys/fs/cgroup) so that tests can fake
// them.
int cgroup_cpu_limit(const std::string& membership_file, const std::string& mount_directory);

// The smaller of available_cores() and EXTENSOR_NUM_THREADS.
Setting<int> default_thread_count();

}  // namespace extensor
