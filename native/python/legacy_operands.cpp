#include "legacy_operands.h"

#include <algorithm>
#include <cstring>

#include "kernel.h"

namespace extensor {
inline namespace legacy {
namespace {

// Elements of one tile: small enough that all buffers of a pass stay in the first-level cache.
constexpr int64_t kTile = 1024;

// How one input of a pass is read. A repeated one is the same for each run of the innermost loop,
// as a bias is.
struct Source {
  enum Kind { linear, constant, repeated, gathered } kind;
  const char* data;
  int64_t itemsize;
  const int64_t* strides;  // bytes per step of each axis of the loop nest
};

template <typename Item>
void gather_run(const char* source, int64_t stride, int64_t n, char* target) {
  Item* out = reinterpret_cast<Item*>(target);
  if (stride == 0 && n > 0) {
    Item item;
    std::memcpy(&item, source, sizeof(Item));
    std::fill_n(out, n, item);
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i, source + i * stride, sizeof(Item));
}

// Copies the elements [begin, begin + n) of a source, in the order of the loop nest.
void gather(const Source& source, const LoopNest& loops, int64_t begin, int64_t n, char* target) {
  int64_t index[kMaxDimensions];
  const char* position = source.data;
  int64_t rest = begin;
  for (int axis = loops.ndim - 1; axis >= 0; --axis) {
    index[axis] = rest % loops.shape[axis];
    rest /= loops.shape[axis];
    position += index[axis] * source.strides[axis];
  }
  const int last = loops.ndim - 1;
  while (n > 0) {
    const int64_t run = std::min(n, loops.shape[last] - index[last]);
    copy_run(position, source.strides[last], source.itemsize, run, target);
    target += run * source.itemsize;
    n -= run;
    index[last] += run;
    position += run * source.strides[last];
    for (int axis = last; axis > 0 && index[axis] == loops.shape[axis]; --axis) {
      position += source.strides[axis - 1] - loops.shape[axis] * source.strides[axis];
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

// Everything a chunk needs to know; shared by all threads.
struct PassPlan {
  Pass pass;
  const double* parameters;
  const HalfFormat* half;
  int inputs, outputs;
  bool first_is_boolean, result_is_boolean;
  bool all_linear;
  Source sources[4];
  char* results[2];
  int64_t result_size;  // bytes of an element of the results
  const LoopNest* loops;
  int64_t tile;  // elements of a tile: whole runs where a source is repeated
};

bool is_boolean(const PassPlan& plan, int input) { return input == 0 && plan.first_is_boolean; }

// Null for a result that nobody asked for.
char* result_at(const PassPlan& plan, int output, int64_t begin) {
  char* data = plan.results[output];
  return data == nullptr ? nullptr : data + begin * plan.result_size;
}

// The buffers of one chunk: each input as the kernel wants it, contiguous and widened.
struct Tiles {
  alignas(64) char inputs[4][kTile * 8];
  alignas(64) char stored[kTile * 8];
  alignas(64) char outputs[2][kTile * 8];
};

const void* tile_of(const PassPlan& plan, int input, int64_t begin, int64_t n, Tiles& tiles) {
  const Source& source = plan.sources[input];
  const bool widened = plan.half != nullptr && !is_boolean(plan, input);
  if (source.kind == Source::constant || source.kind == Source::repeated) {
    return tiles.inputs[input];
  }
  const char* stored = source.data + begin * source.itemsize;
  if (source.kind == Source::gathered) {
    char* target = widened ? tiles.stored : tiles.inputs[input];
    gather(source, *plan.loops, begin, n, target);
    stored = target;
  }
  if (!widened) return stored;
  float* wide = reinterpret_cast<float*>(tiles.inputs[input]);
  plan.half->widen(reinterpret_cast<const uint16_t*>(stored), wide, n);
  return wide;
}

// Fills the tiles that are the same wherever in the chunk from `begin` on they stand.
void fill_constants(const PassPlan& plan, Tiles& tiles, int64_t begin, int64_t n) {
  for (int input = 0; input < plan.inputs; ++input) {
    const Source& source = plan.sources[input];
    if (source.kind != Source::constant && source.kind != Source::repeated) continue;
    const bool widened = plan.half != nullptr && !is_boolean(plan, input);
    char* target = widened ? tiles.stored : tiles.inputs[input];
    if (source.kind == Source::constant) {
      copy_run(source.data, 0, source.itemsize, n, target);
    } else {
      gather(source, *plan.loops, begin, n, target);
    }
    if (widened) {
      plan.half->widen(reinterpret_cast<const uint16_t*>(target),
                       reinterpret_cast<float*>(tiles.inputs[input]), n);
    }
  }
}

void run_tiles(const PassPlan& plan, int64_t begin, int64_t end) {
  Tiles tiles;
  fill_constants(plan, tiles, begin, std::min(plan.tile, end - begin));
  const bool narrowed = plan.half != nullptr && !plan.result_is_boolean;
  for (; begin < end; begin += plan.tile) {
    const int64_t n = std::min(plan.tile, end - begin);
    const void* inputs[4];
    void* outputs[2];
    for (int i = 0; i < plan.inputs; ++i) inputs[i] = tile_of(plan, i, begin, n, tiles);
    for (int o = 0; o < plan.outputs; ++o) {
      outputs[o] = narrowed ? tiles.outputs[o] : result_at(plan, o, begin);
    }
    plan.pass(inputs, outputs, n, plan.parameters);
    for (int o = 0; narrowed && o < plan.outputs; ++o) {
      if (plan.results[o] == nullptr) continue;
      plan.half->narrow(reinterpret_cast<const float*>(outputs[o]),
                        reinterpret_cast<uint16_t*>(plan.results[o]) + begin, n);
    }
  }
}

void run_linear(const PassPlan& plan, int64_t begin, int64_t end) {
  const void* inputs[4];
  void* outputs[2];
  for (int i = 0; i < plan.inputs; ++i) {
    inputs[i] = plan.sources[i].data + begin * plan.sources[i].itemsize;
  }
  for (int o = 0; o < plan.outputs; ++o) {
    outputs[o] = result_at(plan, o, begin);
  }
  plan.pass(inputs, outputs, end - begin, plan.parameters);
}

bool walks_linearly(const LoopNest& loops, int operand, int64_t itemsize) {
  int64_t expected = itemsize;
  for (int axis = loops.ndim - 1; axis >= 0; --axis) {
    if (loops.shape[axis] != 1 && loops.strides[operand][axis] != expected) return false;
    expected *= loops.shape[axis];
  }
  return true;
}

bool stands_still(const LoopNest& loops, int operand) {
  for (int axis = 0; axis < loops.ndim; ++axis) {
    if (loops.shape[axis] != 1 && loops.strides[operand][axis] != 0) return false;
  }
  return true;
}

// Whether a source is the same for each run of the innermost loop, and a run fits into a tile.
bool is_repeated(const LoopNest& loops, int operand) {
  const int last = loops.ndim - 1;
  for (int axis = 0; axis < last; ++axis) {
    if (loops.strides[operand][axis] != 0) return false;
  }
  return last > 0 && loops.shape[last] <= kTile;
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

bool find_storage(int typenum, Storage& storage) {
  storage.typenum = typenum;
  storage.half = nullptr;
  if (typenum == NPY_FLOAT32) {
    storage.element = Element::float32;
    storage.itemsize = 4;
    return true;
  }
  if (typenum == NPY_FLOAT64) {
    storage.element = Element::float64;
    storage.itemsize = 8;
    return true;
  }
  storage.element = Element::float32;
  storage.itemsize = 2;
  if (typenum == NPY_HALF) storage.half = &kernels().float16;
  if (typenum >= 0 && typenum == bfloat16_typenum()) storage.half = &kernels().bfloat16;
  return storage.half != nullptr;
}

bool is_plain_array(PyObject* object) {
  if (!PyArray_CheckExact(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
}

bool read_number(PyObject* object, double& value) {
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyBool_Check(object)) {
    value = object == Py_True;
    return true;
  }
  if (!PyLong_CheckExact(object)) return false;
  value = PyLong_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

bool Operands::read(PyObject* const* arguments, int inputs, bool starts_with_booleans) {
  count = inputs;
  first_is_boolean = starts_with_booleans;
  int first_array = -1;
  for (int i = 0; i < inputs; ++i) {
    if (is_plain_array(arguments[i])) {
      PyArrayObject* array = reinterpret_cast<PyArrayObject*>(arguments[i]);
      const int typenum = PyArray_TYPE(array);
      if (i == 0 && first_is_boolean) {
        if (typenum != NPY_BOOL) return false;
      } else if (storage.typenum == -1) {
        if (!find_storage(typenum, storage)) return false;
      } else if (typenum != storage.typenum) {
        return false;
      }
      fill_view(array, views[i]);
      if (first_array == -1) {
        first_array = i;
        same_layout = views[i].c_contiguous;
      } else {
        same_layout = same_layout && views[i].c_contiguous &&
                      views[i].ndim == views[first_array].ndim &&
                      std::memcmp(views[i].shape, views[first_array].shape,
                                  views[i].ndim * sizeof(int64_t)) == 0;
      }
    } else if (!(i == 0 && first_is_boolean) && read_number(arguments[i], numbers[i])) {
      is_number[i] = true;
    } else {
      return false;
    }
  }
  if (storage.typenum == -1) return false;
  if (same_layout) {
    shape.ndim = views[first_array].ndim;
    std::memcpy(shape.lengths, views[first_array].shape, shape.ndim * sizeof(int64_t));
    return true;
  }
  const ArrayView* arrays[4];
  int array_count = 0;
  for (int i = 0; i < inputs; ++i) {
    if (!is_number[i]) arrays[array_count++] = &views[i];
  }
  return broadcast_shape(arrays, array_count, shape);
}

void run_pass(Pass pass, Cost cost, const Operands& operands, char* const* outputs,
              int output_count, bool result_is_boolean, const double* parameters) {
  int64_t n = 1;
  for (int axis = 0; axis < operands.shape.ndim; ++axis) n *= operands.shape.lengths[axis];
  if (n == 0) return;
  const Storage& storage = operands.storage;
  PassPlan plan = {pass,
                   parameters,
                   storage.half,
                   operands.count,
                   output_count,
                   operands.first_is_boolean,
                   result_is_boolean};
  plan.result_size = result_is_boolean ? 1 : storage.itemsize;
  for (int o = 0; o < output_count; ++o) plan.results[o] = outputs[o];

  LoopNest loops;
  double wide[4];
  float narrow[4];
  int of_loop[4] = {};
  if (!operands.same_layout) {
    const ArrayView* arrays[4];
    int array_count = 0;
    for (int i = 0; i < operands.count; ++i) {
      if (operands.is_number[i]) continue;
      of_loop[i] = array_count;
      arrays[array_count++] = &operands.views[i];
    }
    make_loop_nest(operands.shape, arrays, array_count, loops);
    coalesce(loops);
  }
  plan.loops = &loops;
  plan.tile = kTile;
  plan.all_linear = true;
  for (int i = 0; i < operands.count; ++i) {
    Source& source = plan.sources[i];
    if (operands.is_number[i]) {
      // A number is rounded to the arrays' dtype, as NumPy does.
      wide[i] = operands.numbers[i];
      narrow[i] = static_cast<float>(operands.numbers[i]);
      source = {Source::constant, nullptr, storage.itemsize, nullptr};
      if (storage.half != nullptr) {
        uint16_t rounded;
        storage.half->narrow(&narrow[i], &rounded, 1);
        std::memcpy(&wide[i], &rounded, sizeof(rounded));
        source.data = reinterpret_cast<const char*>(&wide[i]);
      } else {
        source.data = storage.itemsize == 8 ? reinterpret_cast<const char*>(&wide[i])
                                            : reinterpret_cast<const char*>(&narrow[i]);
      }
    } else {
      const ArrayView& view = operands.views[i];
      source = {Source::linear, view.data, view.itemsize, nullptr};
      if (!operands.same_layout) {
        source.data = loops.data[of_loop[i]];
        source.strides = loops.strides[of_loop[i]];
        if (stands_still(loops, of_loop[i])) {
          source.kind = Source::constant;
        } else if (is_repeated(loops, of_loop[i])) {
          source.kind = Source::repeated;
          plan.tile = kTile / loops.shape[loops.ndim - 1] * loops.shape[loops.ndim - 1];
        } else if (!walks_linearly(loops, of_loop[i], view.itemsize)) {
          source.kind = Source::gathered;
        }
      }
    }
    plan.all_linear = plan.all_linear && source.kind == Source::linear;
  }
  const bool direct = plan.all_linear && plan.half == nullptr;
  const Cut pieces = cut(n, cost);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    direct ? run_linear(plan, begin, end) : run_tiles(plan, begin, end);
  });
}

PyObject* result_of_pass(const Pass (&passes)[kElements], Cost cost, const Operands& operands,
                         const double* parameters, bool result_is_boolean) {
  const Storage& storage = operands.storage;
  Reference result(new_array(result_is_boolean ? NPY_BOOL : storage.typenum, operands.shape));
  if (!result) return nullptr;
  char* outputs[] = {result.data()};
  run_pass(passes[static_cast<int>(storage.element)], cost, operands, outputs, 1, result_is_boolean,
           parameters);
  return result.release();
}

}  // namespace legacy
}  // namespace extensor
