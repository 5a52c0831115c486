#include "pass.h"

#include <algorithm>
#include <cstring>

namespace extensor {
namespace {

// What one run of a pass reads and writes; shared by all threads.
struct Memory {
  const PassProblem& problem;
  const char* sources[4];
  char* const* results;
  const double* parameters;
};

template <typename Item>
void gather_run(const char* source, int64_t stride, int64_t n, char* target) {
  Item* out = reinterpret_cast<Item*>(target);
  if (stride == 0 && n > 0) {
    // By doubling, since copies of the system use the widest vectors that there are.
    Item item;
    std::memcpy(&item, source, sizeof(Item));
    int64_t done = std::min<int64_t>(n, 64 / sizeof(Item));
    std::fill_n(out, done, item);
    for (int64_t more; done < n; done += more) {
      more = std::min(done, n - done);
      std::memcpy(out + done, out, more * sizeof(Item));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i, source + i * stride, sizeof(Item));
}

// Copies the elements [begin, begin + n) of a source, in the order of the loops.
void gather(const char* position, const int64_t* strides, int64_t itemsize, const Loops& loops,
            int64_t begin, int64_t n, char* target) {
  int64_t index[kMaxDimensions];
  int64_t rest = begin;
  for (int axis = loops.ndim - 1; axis >= 0; --axis) {
    index[axis] = rest % loops.shape[axis];
    rest /= loops.shape[axis];
    position += index[axis] * strides[axis];
  }
  const int last = loops.ndim - 1;
  while (n > 0) {
    const int64_t run = std::min(n, loops.shape[last] - index[last]);
    copy_run(position, strides[last], itemsize, run, target);
    target += run * itemsize;
    n -= run;
    index[last] += run;
    position += run * strides[last];
    for (int axis = last; axis > 0 && index[axis] == loops.shape[axis]; --axis) {
      position += strides[axis - 1] - loops.shape[axis] * strides[axis];
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

void gather(const Memory& memory, int input, int64_t begin, int64_t n, char* target) {
  const PassSource& source = memory.problem.sources[input];
  gather(memory.sources[input], memory.problem.loops.strides[source.loop], source.itemsize,
         memory.problem.loops, begin, n, target);
}

bool is_widened(const PassProblem& problem, int input) {
  return problem.storage.half != nullptr && !(input == 0 && problem.first_is_boolean);
}

bool stands_still(PassSource::Kind kind) {
  return kind == PassSource::constant || kind == PassSource::number || kind == PassSource::repeated;
}

// Null for a result that nobody asked for.
char* result_at(const Memory& memory, int output, int64_t begin) {
  char* data = memory.results[output];
  return data == nullptr ? nullptr : data + begin * memory.problem.result_size;
}

// The buffers of one chunk: each input as the kernel wants it, contiguous and widened.
struct Tiles {
  alignas(64) char inputs[4][kPassTile * 8];
  alignas(64) char stored[kPassTile * 8];
  alignas(64) char outputs[2][kPassTile * 8];
};

const void* tile_of(const Memory& memory, int input, int64_t begin, int64_t n, Tiles& tiles) {
  const PassProblem& problem = memory.problem;
  const PassSource& source = problem.sources[input];
  if (stands_still(source.kind)) return tiles.inputs[input];
  const bool widened = is_widened(problem, input);
  const char* stored = memory.sources[input] + begin * source.itemsize;
  if (source.kind == PassSource::gathered) {
    char* target = widened ? tiles.stored : tiles.inputs[input];
    gather(memory, input, begin, n, target);
    stored = target;
  }
  if (!widened) return stored;
  float* wide = reinterpret_cast<float*>(tiles.inputs[input]);
  problem.storage.half->widen(reinterpret_cast<const uint16_t*>(stored), wide, n);
  return wide;
}

// Fills the tiles that are the same wherever in the chunk from `begin` on they stand.
void fill_constants(const Memory& memory, Tiles& tiles, int64_t begin, int64_t n) {
  const PassProblem& problem = memory.problem;
  for (int input = 0; input < problem.inputs; ++input) {
    const PassSource& source = problem.sources[input];
    if (!stands_still(source.kind)) continue;
    const bool widened = is_widened(problem, input);
    char* target = widened ? tiles.stored : tiles.inputs[input];
    if (source.kind == PassSource::repeated) {
      gather(memory, input, begin, n, target);
    } else {
      copy_run(memory.sources[input], 0, source.itemsize, n, target);
    }
    if (widened) {
      problem.storage.half->widen(reinterpret_cast<const uint16_t*>(target),
                                  reinterpret_cast<float*>(tiles.inputs[input]), n);
    }
  }
}

void run_tiles(const Memory& memory, int64_t begin, int64_t end) {
  const PassProblem& problem = memory.problem;
  const HalfFormat* half = problem.storage.half;
  Tiles tiles;
  fill_constants(memory, tiles, begin, std::min(problem.tile, end - begin));
  const bool narrowed = half != nullptr && !problem.result_is_boolean;
  for (; begin < end; begin += problem.tile) {
    const int64_t n = std::min(problem.tile, end - begin);
    const void* inputs[4];
    void* outputs[2];
    for (int i = 0; i < problem.inputs; ++i) inputs[i] = tile_of(memory, i, begin, n, tiles);
    for (int o = 0; o < problem.outputs; ++o) {
      outputs[o] = narrowed ? tiles.outputs[o] : result_at(memory, o, begin);
    }
    problem.pass(inputs, outputs, n, memory.parameters);
    for (int o = 0; narrowed && o < problem.outputs; ++o) {
      if (memory.results[o] == nullptr) continue;
      half->narrow(reinterpret_cast<const float*>(outputs[o]),
                   reinterpret_cast<uint16_t*>(memory.results[o]) + begin, n);
    }
  }
}

void run_linear(const Memory& memory, int64_t begin, int64_t end) {
  const PassProblem& problem = memory.problem;
  const void* inputs[4];
  void* outputs[2];
  for (int i = 0; i < problem.inputs; ++i) {
    inputs[i] = memory.sources[i] + begin * problem.sources[i].itemsize;
  }
  for (int o = 0; o < problem.outputs; ++o) outputs[o] = result_at(memory, o, begin);
  problem.pass(inputs, outputs, end - begin, memory.parameters);
}

bool walks_linearly(const Loops& loops, int operand, int64_t itemsize) {
  int64_t expected = itemsize;
  for (int axis = loops.ndim - 1; axis >= 0; --axis) {
    if (loops.shape[axis] != 1 && loops.strides[operand][axis] != expected) return false;
    expected *= loops.shape[axis];
  }
  return true;
}

bool does_not_move(const Loops& loops, int operand) {
  for (int axis = 0; axis < loops.ndim; ++axis) {
    if (loops.shape[axis] != 1 && loops.strides[operand][axis] != 0) return false;
  }
  return true;
}

// Whether a source is the same for each run of the innermost loop, and a run fits into a tile.
bool is_repeated(const Loops& loops, int operand) {
  const int last = loops.ndim - 1;
  for (int axis = 0; axis < last; ++axis) {
    if (loops.strides[operand][axis] != 0) return false;
  }
  return last > 0 && loops.shape[last] <= kPassTile;
}

PassSource::Kind kind_in(const Loops& loops, int operand, int64_t itemsize) {
  if (does_not_move(loops, operand)) return PassSource::constant;
  if (is_repeated(loops, operand)) return PassSource::repeated;
  return walks_linearly(loops, operand, itemsize) ? PassSource::linear : PassSource::gathered;
}

}  // namespace

void copy_run(const char* source, int64_t stride, int64_t itemsize, int64_t n, char* target) {
  if (stride == itemsize) {
    std::memcpy(target, source, n * itemsize);
  } else if (itemsize == 4) {
    gather_run<uint32_t>(source, stride, n, target);
  } else if (itemsize == 8) {
    gather_run<uint64_t>(source, stride, n, target);
  } else if (itemsize == 2) {
    gather_run<uint16_t>(source, stride, n, target);
  } else {
    gather_run<uint8_t>(source, stride, n, target);
  }
}

void store_number(DType dtype, double number, char* target) {
  const auto store = [&]<typename T>(T value) { std::memcpy(target, &value, sizeof value); };
  const float narrow = static_cast<float>(number);
  Storage storage;
  switch (dtype) {
    case DType::boolean:
      return store(number != 0);
    case DType::int32:
      return store(static_cast<int32_t>(number));
    case DType::int64:
      return store(static_cast<int64_t>(number));
    case DType::float32:
      return store(narrow);
    case DType::float64:
      return store(number);
    default:
      find_storage(dtype, storage);
      storage.half->narrow(&narrow, reinterpret_cast<uint16_t*>(target), 1);
  }
}

void plan_pass(Pass pass, Cost cost, const Operands& operands, int outputs, bool result_is_boolean,
               int parameters, PassProblem& problem) {
  problem.pass = pass;
  problem.storage = operands.storage;
  problem.inputs = operands.count;
  problem.outputs = outputs;
  problem.parameters = parameters;
  problem.first_is_boolean = operands.first_is_boolean;
  problem.result_is_boolean = result_is_boolean;
  problem.result_size = result_is_boolean ? 1 : operands.storage.itemsize;
  problem.tile = kPassTile;
  problem.pieces = cut(operands.shape.size(), cost);
  int loop_of[4] = {};
  if (!operands.same_layout) {
    const Layout* arrays[4];
    int array_count = 0;
    for (int i = 0; i < operands.count; ++i) {
      if (operands.is_number[i]) continue;
      loop_of[i] = array_count;
      arrays[array_count++] = &operands.layouts[i];
    }
    make_loops(operands.shape, arrays, array_count, problem.loops);
    coalesce(problem.loops);
  }
  bool all_linear = true;
  for (int i = 0; i < operands.count; ++i) {
    PassSource& source = problem.sources[i];
    source.place = operands.place[i];
    source.loop = loop_of[i];
    if (operands.is_number[i]) {
      source.kind = PassSource::number;
      source.itemsize = operands.storage.itemsize;
    } else {
      source.itemsize = operands.layouts[i].itemsize;
      source.kind = operands.same_layout ? PassSource::linear
                                         : kind_in(problem.loops, loop_of[i], source.itemsize);
    }
    if (source.kind == PassSource::repeated) {
      const int64_t run = problem.loops.shape[problem.loops.ndim - 1];
      problem.tile = kPassTile / run * run;
    }
    all_linear = all_linear && source.kind == PassSource::linear;
  }
  problem.direct = all_linear && operands.storage.half == nullptr;
}

void run_pass(const PassProblem& problem, char* const* inputs, char* const* outputs,
              const double* numbers) {
  if (problem.pieces.items == 0) return;
  Memory memory{problem, {}, outputs, numbers + problem.parameters};
  alignas(8) char rounded[4][8];
  for (int i = 0; i < problem.inputs; ++i) {
    const PassSource& source = problem.sources[i];
    if (source.kind == PassSource::number) {
      store_number(problem.storage.dtype, numbers[source.place], rounded[i]);
      memory.sources[i] = rounded[i];
    } else {
      memory.sources[i] = inputs[source.place];
    }
  }
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    problem.direct ? run_linear(memory, begin, end) : run_tiles(memory, begin, end);
  });
}

void run_pass_call(const PassProblem& problem, const Buffers& buffers) {
  run_pass(problem, buffers.inputs, buffers.outputs, buffers.numbers);
}

}  // namespace extensor
