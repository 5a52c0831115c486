// Memory that each thread keeps from call to call, so that steady training allocates none.
#pragma once

#include <cstddef>

namespace extensor {

// What it is for. A thread never needs two of one purpose at a time.
enum class Scratch : int { left, right, sums };

// At least `bytes` bytes at the start of a page, the thread's own until it asks for the same
// purpose again; std::bad_alloc if there are none.
void* thread_scratch(Scratch purpose, size_t bytes);

}  // namespace extensor
