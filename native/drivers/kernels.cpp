// The table of kernels for the instruction set of this machine.
#include <cstdlib>

#include "../kernels/tables.h"
#include "../runtime/cpu.h"

namespace extensor {

const KernelTable& kernels() {
  static const KernelTable& chosen = []() -> const KernelTable& {
#if defined(__x86_64__)
    switch (choose_instruction_set().value) {
#if EXTENSOR_HAS_v4bf16
      case InstructionSet::v4bf16: {
        static const KernelTable table = [] {
          KernelTable v4_table = v4::table();
          v4_table.gemm_bfloat16 = v4bf16::gemm;
          return v4_table;
        }();
        return table;
      }
#endif
#if EXTENSOR_HAS_v4
      case InstructionSet::v4:
        return v4::table();
#endif
#if EXTENSOR_HAS_v3
      case InstructionSet::v3:
        return v3::table();
#endif
#if EXTENSOR_HAS_v2
      case InstructionSet::v2:
        return v2::table();
#endif
      default:  // the import has failed already
        std::abort();
    }
#else
    return baseline::table();
#endif
  }();
  return chosen;
}

}  // namespace extensor
