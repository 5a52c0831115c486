// Where threads run. The system decides, but it may wake a thread on the processor of the one that
// woke it and leave it waiting there for milliseconds beside an idle processor.
#pragma once

#include <thread>

namespace extensor {

// The processor that the calling thread runs on, or -1 where the system does not tell.
int current_processor();

// Lets `thread` run wherever the calling thread may, save on `processor`. Does nothing if that
// would leave no processor, or where the system cannot do it.
void keep_off(std::thread& thread, int processor);

}  // namespace extensor
