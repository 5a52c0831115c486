#include "placement.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace extensor {

int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

void keep_off([[maybe_unused]] std::thread& thread, [[maybe_unused]] int processor) {
#if defined(__linux__)
  cpu_set_t allowed;
  // Fails beyond 1024 processors, where a shared one is unlikely.
  if (processor < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_CLR(processor, &allowed);
  if (CPU_COUNT(&allowed) == 0) return;
  pthread_setaffinity_np(thread.native_handle(), sizeof allowed, &allowed);
#endif
}

}  // namespace extensor
