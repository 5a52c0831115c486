#include "recurrent.h"

#include <cstring>

#include "recurrent_sequence.h"
#include "reduction.h"

namespace extensor {
namespace {

using namespace recurrent;

template <typename T>
void add_into(const Reference& a, const Reference& b, const Reference& out, int64_t n) {
  const T *first = reinterpret_cast<const T*>(data_of(a)),
          *second = reinterpret_cast<const T*>(data_of(b));
  T* sum = reinterpret_cast<T*>(data_of(out));
  for (int64_t i = 0; i < n; ++i) sum[i] = first[i] + second[i];
}

// b_ih + b_hh, one of them, or nothing (None). A new reference, or null with a Python error set.
PyObject* total_bias(const Sequence& s) {
  const Reference &first = s.held[s.states + 3], &second = s.held[s.states + 4];
  if (!first || !second) {
    PyObject* one = first ? first.get() : second ? second.get() : Py_None;
    return Py_NewRef(one);
  }
  const npy_intp n = s.gates * s.hidden;
  Reference sum(new_array(s.storage.typenum, 1, &n));
  if (!sum) return nullptr;
  (s.storage.element == Element::float64 ? add_into<double> : add_into<float>)(first, second, sum,
                                                                               n);
  return sum.release();
}
const void* data_or_null(const Reference& array) {
  return array.get() == Py_None ? nullptr : data_of(array);
}

// The product of all inputs with their weights, for the gates of all steps.
void inputs_into(const Sequence& s, char* out, const void* bias) {
  product_into(s.storage.typenum, s.x(), s.w_ih().transposed(), out, bias);
}

bool read_needs(PyObject* object, int count, bool* needs) {
  if (!PyTuple_CheckExact(object) || PyTuple_GET_SIZE(object) != count) return false;
  for (int i = 0; i < count; ++i) needs[i] = PyTuple_GET_ITEM(object, i) == Py_True;
  return true;
}

bool is_like(PyObject* object, const Sequence& s, bool has_steps, int64_t width) {
  if (!is_plain_array(object) || PyArray_TYPE(as_array(object)) != s.storage.typenum) return false;
  return has_steps ? has_shape(as_array(object), {s.steps, s.batch, static_cast<npy_intp>(width)})
                   : has_shape(as_array(object), {s.batch, static_cast<npy_intp>(width)});
}

// From the gradient of what the inputs and the states before gave to the gates, all that is needed:
// x, the states (given), the weights and the biases, in the order of the inputs.
PyObject* gradients_of(const Sequence& s, const Reference& of_x, const Reference& of_h,
                       const Reference& before, Reference* states, const bool* needs) {
  const int typenum = s.storage.typenum, count = s.states + 5;
  const int64_t rows = s.steps * s.batch;
  const npy_intp width = s.gates * s.hidden;
  const Matrix first = s.matrix(data_of(of_x), rows, width);
  const Matrix second = s.matrix(data_of(of_h), rows, width);
  Reference results(PyTuple_New(count));
  if (!results) return nullptr;
  const auto put = [&](int index, PyObject* value) {
    if (value != nullptr) PyTuple_SET_ITEM(results.get(), index, value);
    return value != nullptr;
  };
  const auto put_product = [&](int index, const Matrix& a, const Matrix& b, int ndim,
                               const npy_intp* shape) {
    Reference made(new_array(typenum, ndim, shape));
    if (made) product_into(typenum, a, b, data_of(made));
    return put(index, made.release());
  };
  for (int i = 0; i < count; ++i) {
    const int weight = i - s.states - 1;
    bool done;
    if (!needs[i]) {
      done = put(i, Py_NewRef(Py_None));
    } else if (i == 0) {
      PyArrayObject* x = s.held[0].array();
      done = put_product(0, first, s.w_ih(), PyArray_NDIM(x), PyArray_DIMS(x));
    } else if (weight < 0) {
      done = put(i, states[i - 1].release());
    } else if (weight < 2) {
      const Matrix inputs = weight == 0 ? s.x() : s.matrix(data_of(before), rows, s.hidden);
      const npy_intp shape[] = {width, inputs.columns};
      done = put_product(i, (weight == 0 ? first : second).transposed(), inputs, 2, shape);
    } else {
      done = put(i, sum_to_shape((weight == 2 ? of_x : of_h).array(), 1, &width));
    }
    if (!done) return nullptr;
  }
  return results.release();
}

// x, h0, c0, w_ih, w_hh, b_ih, b_hh; the hidden states, the last cell, the gates, all cells.
template <bool kCell>
PyObject* call_lstm(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  s.gates = 4;
  s.states = 2;
  if (count != 7 || !s.read(arguments, kCell)) return not_implemented();
  if (!s.hold(arguments)) return nullptr;
  Reference output(s.new_steps(s.hidden, true)), gates(s.new_steps(4 * s.hidden, false));
  Reference cells(s.new_steps(s.hidden, false)), last(s.new_state()), bias(total_bias(s));
  if (!output || !gates || !cells || !last || !bias) return nullptr;
  inputs_into(s, data_of(gates), data_or_null(bias));
  const int64_t size = s.state_size() * s.itemsize();
  const char *h = s.state(0), *c = s.state(1);
  const auto step = kernels().recurrent.lstm[s.element()];
  for (int64_t t = 0; t < s.steps; ++t) {
    char *gate = data_of(gates) + 4 * t * size, *next = data_of(output) + t * size;
    char* cell = data_of(cells) + t * size;
    product_into(s.storage.typenum, s.matrix(h, s.batch, s.hidden), s.w_hh().transposed(), gate,
                 nullptr, true);
    s.for_rows([&](int64_t begin, int64_t end) {
      const int64_t skipped = begin * s.hidden * s.itemsize();
      step(gate + 4 * skipped, c + skipped, cell + skipped, next + skipped, end - begin, s.hidden);
    });
    h = next;
    c = cell;
  }
  std::memcpy(data_of(last), c, size);
  return PyTuple_Pack(4, output.get(), last.get(), gates.get(), cells.get());
}

// grad_outputs, the inputs, gates, cells, needs
template <bool kCell>
PyObject* call_lstm_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  s.gates = 4;
  s.states = 2;
  bool needs[7];
  if (count != 11 || !PyList_CheckExact(arguments[0]) || PyList_GET_SIZE(arguments[0]) != 2 ||
      !s.read(arguments + 1, kCell) || !read_needs(arguments[10], 7, needs) ||
      !is_like(PyList_GET_ITEM(arguments[0], 0), s, !kCell, s.hidden) ||
      !is_like(PyList_GET_ITEM(arguments[0], 1), s, false, s.hidden) ||
      !is_like(arguments[8], s, true, 4 * s.hidden) || !is_like(arguments[9], s, true, s.hidden)) {
    return not_implemented();
  }
  if (!s.hold(arguments + 1)) return nullptr;
  Reference gradient(contiguous(as_array(PyList_GET_ITEM(arguments[0], 0))));
  Reference gates(contiguous(as_array(arguments[8]))), cells(contiguous(as_array(arguments[9])));
  Reference inner(s.new_steps(4 * s.hidden, false)), before(s.new_steps(s.hidden, false));
  Reference states[] = {Reference(s.new_state()),
                        Reference(copy_of(as_array(PyList_GET_ITEM(arguments[0], 1))))};
  Reference unused(s.new_state());
  if (!gradient || !gates || !cells || !inner || !before || !states[0] || !states[1] || !unused) {
    return nullptr;
  }
  const int64_t size = s.state_size() * s.itemsize();
  char* carried = data_of(states[0]);
  std::memset(carried, 0, size);
  std::memcpy(data_of(before), s.state(0), size);
  const auto rule = kernels().recurrent.lstm_rule[s.element()];
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const char* cell = data_of(cells) + t * size;
    LstmStep step{data_of(gradient) + t * size,
                  carried,
                  data_of(gates) + 4 * t * size,
                  t > 0 ? cell - size : s.state(1),
                  cell,
                  data_of(states[1]),
                  data_of(inner) + 4 * t * size,
                  t + 1 < s.steps ? data_of(before) + (t + 1) * size : data_of(unused)};
    s.for_rows([&](int64_t begin, int64_t end) { rule(step, begin, end - begin, s.hidden); });
    product_into(s.storage.typenum, s.matrix(data_of(inner) + 4 * t * size, s.batch, 4 * s.hidden),
                 s.w_hh(), carried);
  }
  return gradients_of(s, inner, inner, before, states, needs);
}

// x, h0, w_ih, w_hh, b_ih, b_hh; the hidden states and the gates.
template <bool kCell>
PyObject* call_gru(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  s.gates = 3;
  if (count != 6 || !s.read(arguments, kCell)) return not_implemented();
  if (!s.hold(arguments)) return nullptr;
  Reference output(s.new_steps(s.hidden, true)), gates(s.new_steps(4 * s.hidden, false));
  Reference of_x(s.new_steps(3 * s.hidden, false));
  const npy_intp shape[] = {s.batch, 3 * s.hidden};
  Reference of_h(new_array(s.storage.typenum, 2, shape));
  if (!output || !gates || !of_x || !of_h) return nullptr;
  inputs_into(s, data_of(of_x), s.bias(0));
  const int64_t size = s.state_size() * s.itemsize();
  const char* h = s.state(0);
  const auto step = kernels().recurrent.gru[s.element()];
  for (int64_t t = 0; t < s.steps; ++t) {
    char *gate = data_of(gates) + 4 * t * size, *next = data_of(output) + t * size;
    const char* x = data_of(of_x) + 3 * t * size;
    product_into(s.storage.typenum, s.matrix(h, s.batch, s.hidden), s.w_hh().transposed(),
                 data_of(of_h), s.bias(1));
    s.for_rows([&](int64_t begin, int64_t end) {
      const int64_t skipped = begin * s.hidden * s.itemsize();
      step(x + 3 * skipped, data_of(of_h) + 3 * skipped, h + skipped, gate + 4 * skipped,
           next + skipped, end - begin, s.hidden);
    });
    h = next;
  }
  return PyTuple_Pack(2, output.get(), gates.get());
}

// The states that the steps began with: the first one, then all outputs but the last.
PyObject* states_before(const Sequence& s, const Reference& output) {
  Reference before(s.new_steps(s.hidden, false));
  const int64_t size = s.state_size() * s.itemsize();
  if (before) {
    std::memcpy(data_of(before), s.state(0), size);
    std::memcpy(data_of(before) + size, data_of(output), (s.steps - 1) * size);
  }
  return before.release();
}

// grad_output, the inputs, output, gates, needs
template <bool kCell>
PyObject* call_gru_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  s.gates = 3;
  bool needs[6];
  if (count != 10 || !s.read(arguments + 1, kCell) || !read_needs(arguments[9], 6, needs) ||
      !is_like(arguments[0], s, !kCell, s.hidden) || !is_like(arguments[7], s, !kCell, s.hidden) ||
      !is_like(arguments[8], s, true, 4 * s.hidden)) {
    return not_implemented();
  }
  if (!s.hold(arguments + 1)) return nullptr;
  Reference gradient(contiguous(as_array(arguments[0]))),
      output(contiguous(as_array(arguments[7])));
  Reference gates(contiguous(as_array(arguments[8])));
  Reference of_x(s.new_steps(3 * s.hidden, false)), of_h(s.new_steps(3 * s.hidden, false));
  Reference state(s.new_state()), before(output ? states_before(s, output) : nullptr);
  if (!gradient || !gates || !of_x || !of_h || !state || !before) return nullptr;
  const int64_t size = s.state_size() * s.itemsize();
  std::memset(data_of(state), 0, size);
  const auto rule = kernels().recurrent.gru_rule[s.element()];
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    char* inner = data_of(of_h) + 3 * t * size;
    GruStep step{data_of(gradient) + t * size, data_of(gates) + 4 * t * size,
                 data_of(before) + t * size,   data_of(state),
                 data_of(of_x) + 3 * t * size, inner};
    s.for_rows([&](int64_t begin, int64_t end) { rule(step, begin, end - begin, s.hidden); });
    product_into(s.storage.typenum, s.matrix(inner, s.batch, 3 * s.hidden), s.w_hh(),
                 data_of(state), nullptr, true);
  }
  return gradients_of(s, of_x, of_h, before, &state, needs);
}

// "tanh" or "relu".
bool read_nonlinearity(PyObject* object, bool& relu) {
  if (!PyUnicode_CheckExact(object)) return false;
  relu = PyUnicode_CompareWithASCIIString(object, "relu") == 0;
  return relu || PyUnicode_CompareWithASCIIString(object, "tanh") == 0;
}

// x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity; the hidden states.
template <bool kCell>
PyObject* call_rnn(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  bool relu;
  if (count != 7 || !read_nonlinearity(arguments[6], relu) || !s.read(arguments, kCell)) {
    return not_implemented();
  }
  if (!s.hold(arguments)) return nullptr;
  Reference output(s.new_steps(s.hidden, true)), bias(total_bias(s));
  if (!output || !bias) return nullptr;
  inputs_into(s, data_of(output), data_or_null(bias));
  const int64_t size = s.state_size() * s.itemsize();
  const char* h = s.state(0);
  const auto step = kernels().recurrent.rnn[s.element()][relu];
  for (int64_t t = 0; t < s.steps; ++t) {
    char* next = data_of(output) + t * size;
    product_into(s.storage.typenum, s.matrix(h, s.batch, s.hidden), s.w_hh().transposed(), next,
                 nullptr, true);
    s.for_rows([&](int64_t begin, int64_t end) {
      step(next + begin * s.hidden * s.itemsize(), (end - begin) * s.hidden);
    });
    h = next;
  }
  return output.release();
}

// grad_output, x, h0, w_ih, w_hh, output, nonlinearity, needs
template <bool kCell>
PyObject* call_rnn_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Sequence s;
  bool relu, needs[6];
  if (count != 8) return not_implemented();
  PyObject* inputs[] = {arguments[1], arguments[2], arguments[3], arguments[4], Py_None, Py_None};
  if (!read_nonlinearity(arguments[6], relu) || !s.read(inputs, kCell) ||
      !read_needs(arguments[7], 6, needs) || !is_like(arguments[0], s, !kCell, s.hidden) ||
      !is_like(arguments[5], s, !kCell, s.hidden)) {
    return not_implemented();
  }
  if (!s.hold(inputs)) return nullptr;
  Reference gradient(contiguous(as_array(arguments[0]))),
      output(contiguous(as_array(arguments[5])));
  Reference inner(s.new_steps(s.hidden, false)), state(s.new_state());
  Reference before(output ? states_before(s, output) : nullptr);
  if (!gradient || !inner || !state || !before) return nullptr;
  const int64_t size = s.state_size() * s.itemsize();
  std::memset(data_of(state), 0, size);
  const auto rule = kernels().recurrent.rnn_rule[s.element()][relu];
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const char *g = data_of(gradient) + t * size, *y = data_of(output) + t * size;
    char* out = data_of(inner) + t * size;
    s.for_rows([&](int64_t begin, int64_t end) {
      const int64_t skipped = begin * s.hidden * s.itemsize();
      rule(g + skipped, data_of(state) + skipped, y + skipped, out + skipped,
           (end - begin) * s.hidden);
    });
    product_into(s.storage.typenum, s.matrix(out, s.batch, s.hidden), s.w_hh(), data_of(state));
  }
  return gradients_of(s, inner, inner, before, &state, needs);
}

}  // namespace

bool add_recurrent_kernels(PyObject* kernels_by_name) {
  const struct {
    const char* name;
    KernelCall call;
  } calls[] = {
      {"rnn", call_rnn<false>},       {"rnn_backward", call_rnn_rule<false>},
      {"rnn_cell", call_rnn<true>},   {"rnn_cell_backward", call_rnn_rule<true>},
      {"lstm", call_lstm<false>},     {"lstm_backward", call_lstm_rule<false>},
      {"lstm_cell", call_lstm<true>}, {"lstm_cell_backward", call_lstm_rule<true>},
      {"gru", call_gru<false>},       {"gru_backward", call_gru_rule<false>},
      {"gru_cell", call_gru<true>},   {"gru_cell_backward", call_gru_rule<true>},
  };
  for (const auto& [name, call] : calls) {
    if (!add_kernel(kernels_by_name, name, call, nullptr)) return false;
  }
  return true;
}

}  // namespace extensor
