// A kernel here takes lists of arrays, one list for each role (parameters, gradients, state), and
// numbers. All of a model's parameters are one piece of work, cut by their shapes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

constexpr int64_t kTile = 1024;
constexpr int kGradient = 1;                   // the role that is only read
constexpr int64_t kLine = 64 / sizeof(float);  // elements of a cache line

// Of a whole parameter and of its direction, or of a piece.
struct Squares {
  double of[2] = {0, 0};
};

// The arrays of one parameter, by role. A role that is not in use is null.
struct Entry {
  char* arrays[kUpdateArrays] = {};
  const HalfFormat* half[kUpdateArrays] = {};  // set for the 16-bit floats
  int64_t size = 0;
  Element element = Element::float32;
  bool any_half = false;

  int64_t itemsize(int role) const {
    return half[role] != nullptr ? 2 : element == Element::float64 ? 8 : 4;
  }
};

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
  return PyArray_NDIM(a) == PyArray_NDIM(b) &&
         PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a)) != 0;
}

// The arguments of a call, which are kept alive until it ends: without the interpreter's lock
// another thread may take an array out of its list.
class Lists {
 public:
  Lists() = default;
  ~Lists() {
    for (PyObject* object : kept_) Py_DECREF(object);
  }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  // Role `read_only` is not written and may have any strides; a role from `required` on may be an
  // empty list. False for what Python has to look at.
  bool read(PyObject* const* lists, int roles, int required, int read_only) {
    for (int role = 0; role < roles; ++role) {
      if (!PyList_CheckExact(lists[role])) return false;
    }
    const Py_ssize_t count = PyList_GET_SIZE(lists[0]);
    entries.resize(count);
    kept_.reserve(count * roles);
    for (int role = 0; role < roles; ++role) {
      const Py_ssize_t length = PyList_GET_SIZE(lists[role]);
      if (length == 0 && role >= required) continue;
      if (length != count) return false;
      for (Py_ssize_t i = 0; i < count; ++i) {
        if (!add(PyList_GET_ITEM(lists[role], i), PyList_GET_ITEM(lists[0], i), entries[i], role,
                 role == read_only)) {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<Entry> entries;

 private:
  bool add(PyObject* object, PyObject* first, Entry& entry, int role, bool read_only) {
    Storage storage;
    if (!is_plain_array(object)) return false;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
    if (!find_storage(PyArray_TYPE(array), storage)) return false;
    if (role == 0) {
      entry.size = PyArray_SIZE(array);
      entry.element = storage.element;
    } else if (!PyArray_CheckExact(first) ||
               !have_one_shape(array, reinterpret_cast<PyArrayObject*>(first)) ||
               storage.element != entry.element) {
      return false;
    }
    if (!read_only && !PyArray_ISWRITEABLE(array)) return false;
    if (PyArray_IS_C_CONTIGUOUS(array)) {
      kept_.push_back(Py_NewRef(object));
    } else {
      if (!read_only) return false;
      object = contiguous(array);
      if (object == nullptr) return false;
      kept_.push_back(object);
      array = reinterpret_cast<PyArrayObject*>(object);
    }
    entry.arrays[role] = PyArray_BYTES(array);
    entry.half[role] = storage.half;
    entry.any_half = entry.any_half || storage.half != nullptr;
    return true;
  }

  std::vector<PyObject*> kept_;
};

// A run of elements of one parameter.
struct Piece {
  size_t entry;
  int64_t begin, size;
};

// All parameters in a row, cut into chunks that begin at a cache line; a chunk is a few pieces.
struct Work {
  std::vector<Piece> pieces;
  std::vector<size_t> first;  // piece of each chunk, and the end
  int64_t nanoseconds = 0;

  Work(const std::vector<Entry>& entries, Cost cost) {
    int64_t total = 0;
    for (const Entry& entry : entries) total += padded(entry.size);
    const Cut whole = cut(total, cost);
    nanoseconds = whole.nanoseconds;
    first.reserve(whole.tasks + 1);
    pieces.reserve(whole.tasks + entries.size());
    int64_t room = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      for (int64_t begin = 0; begin < entries[i].size;) {
        if (room <= 0) {
          first.push_back(pieces.size());
          room = whole.chunk;
        }
        const int64_t size = std::min(room, entries[i].size - begin);
        pieces.push_back({i, begin, size});
        begin += size;
        room -= padded(size);
      }
    }
    first.push_back(pieces.size());
  }

  static int64_t padded(int64_t size) { return (size + kLine - 1) / kLine * kLine; }

  // Calls body(piece, its number) for every piece.
  template <typename Body>
  void run(Body&& body) const {
    const int64_t chunks = static_cast<int64_t>(first.size()) - 1;
    parallel_chunks(Cut{chunks, 1, chunks, nanoseconds}, [&](int64_t begin, int64_t end) {
      for (size_t i = first[begin]; i < first[end]; ++i) body(pieces[i], i);
    });
  }
};

// Calls body(arrays, n) with the piece's memory; 16-bit floats come as float32, a tile at a time,
// and those that are written are rounded back.
template <typename Body>
void with_arrays(const Entry& entry, const Piece& piece, int roles, int read_only, Body&& body) {
  void* arrays[kUpdateArrays];
  const auto place = [&](int role, int64_t begin) {
    char* data = entry.arrays[role];
    return data == nullptr ? nullptr : data + begin * entry.itemsize(role);
  };
  if (!entry.any_half) {
    for (int role = 0; role < roles; ++role) arrays[role] = place(role, piece.begin);
    return body(arrays, piece.size);
  }
  alignas(64) float tiles[kUpdateArrays][kTile];
  const int64_t end = piece.begin + piece.size;
  for (int64_t begin = piece.begin; begin < end; begin += kTile) {
    const int64_t n = std::min(kTile, end - begin);
    for (int role = 0; role < roles; ++role) {
      arrays[role] = place(role, begin);
      if (entry.half[role] == nullptr) continue;
      entry.half[role]->widen(static_cast<const uint16_t*>(arrays[role]), tiles[role], n);
      arrays[role] = tiles[role];
    }
    body(arrays, n);
    for (int role = 0; role < roles; ++role) {
      if (entry.half[role] == nullptr || role == read_only) continue;
      entry.half[role]->narrow(tiles[role], reinterpret_cast<uint16_t*>(place(role, begin)), n);
    }
  }
}

// Python's and NumPy's floats, ints and bools.
bool read_attributes(PyObject* const* arguments, Py_ssize_t count, double* values) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyFloat_Check(arguments[i])) {
      values[i] = PyFloat_AS_DOUBLE(arguments[i]);
    } else if (!read_number(arguments[i], values[i])) {
      return false;
    }
  }
  return true;
}

// What an update does, and all the memory it needs: once that is there, it can no longer fail.
struct Job {
  const void* kernel;  // that it was prepared for
  Lists lists;
  std::optional<Work> work;
  std::vector<Squares> pieces, whole;

  bool prepare(PyObject* const* arguments, int roles, int required, Cost cost, bool measured) {
    if (!lists.read(arguments, roles, required, kGradient)) return false;
    work.emplace(lists.entries, cost);
    if (measured) {
      pieces.resize(work->pieces.size());
      whole.resize(lists.entries.size());
    }
    return true;
  }
};

constexpr char kJobName[] = "extensor.update";

void destroy_job(PyObject* capsule) {
  delete static_cast<Job*>(PyCapsule_GetPointer(capsule, kJobName));
}

// An update is called with its lists and its numbers. With the lists alone it only prepares itself;
// what that returns may follow the numbers of a later call. So several updates can be made sure of
// before the first of them changes anything.
template <typename Run>
PyObject* prepared_or_run(const void* kernel, PyObject* const* arguments, Py_ssize_t count,
                          int roles, int required, int numbers, Cost cost, bool measured,
                          const Run& run) {
  double attributes[kUpdateAttributes];
  if (count == roles) {
    std::unique_ptr<Job> job(new Job{kernel});
    if (!job->prepare(arguments, roles, required, cost, measured)) return not_implemented();
    PyObject* capsule = PyCapsule_New(job.get(), kJobName, destroy_job);
    if (capsule != nullptr) job.release();
    return capsule;
  }
  if (count < roles + numbers || !read_attributes(arguments + roles, numbers, attributes)) {
    return not_implemented();
  }
  if (count == roles + numbers) {
    Job job{kernel};
    if (!job.prepare(arguments, roles, required, cost, measured)) return not_implemented();
    run(job, attributes);
  } else {
    PyObject* capsule = arguments[roles + numbers];
    if (count > roles + numbers + 1 || !PyCapsule_IsValid(capsule, kJobName)) {
      return not_implemented();
    }
    Job& job = *static_cast<Job*>(PyCapsule_GetPointer(capsule, kJobName));
    if (job.kernel != kernel) return not_implemented();
    run(job, attributes);
  }
  return Py_NewRef(arguments[0]);
}

// Lists of arrays, then numbers; returns the first list, whose arrays it has changed.
PyObject* call_update(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const UpdateKernel& kernel = *static_cast<const UpdateKernel*>(definition);
  return prepared_or_run(
      definition, arguments, count, kernel.arrays, kernel.required, kernel.attributes, kernel.cost,
      false, [&](Job& job, double* attributes) {
        if (kernel.prepare != nullptr) kernel.prepare(attributes);
        Unlocked unlocked(job.work->nanoseconds);
        job.work->run([&](const Piece& piece, size_t) {
          const Entry& entry = job.lists.entries[piece.entry];
          const auto update = kernel.update[static_cast<int>(entry.element)];
          with_arrays(entry, piece, kernel.arrays, kGradient,
                      [&](void* const* arrays, int64_t n) { update(arrays, n, attributes); });
        });
      });
}

void run_lamb(Job& job, double* attributes) {
  constexpr int kRoles = 4;
  const LambKernel& kernel = kernels().lamb;
  const std::vector<Entry>& entries = job.lists.entries;
  const Work& work = *job.work;
  kernel.prepare(attributes);
  Unlocked unlocked(2 * work.nanoseconds);
  std::fill(job.pieces.begin(), job.pieces.end(), Squares{});
  std::fill(job.whole.begin(), job.whole.end(), Squares{});
  work.run([&](const Piece& piece, size_t number) {
    const Entry& entry = entries[piece.entry];
    const auto measure = kernel.measure[static_cast<int>(entry.element)];
    with_arrays(entry, piece, kRoles, kGradient, [&](void* const* arrays, int64_t n) {
      measure(arrays, n, attributes, job.pieces[number].of);
    });
  });
  for (size_t i = 0; i < job.pieces.size(); ++i) {
    for (int k = 0; k < 2; ++k) job.whole[work.pieces[i].entry].of[k] += job.pieces[i].of[k];
  }
  work.run([&](const Piece& piece, size_t) {
    const Entry& entry = entries[piece.entry];
    const double parameter = std::sqrt(job.whole[piece.entry].of[0]);
    const double direction = std::sqrt(job.whole[piece.entry].of[1]);
    const double ratio = parameter > 0 && direction > 0 ? parameter / direction : 1;
    const auto move = kernel.move[static_cast<int>(entry.element)];
    with_arrays(entry, piece, kRoles, kGradient,
                [&](void* const* arrays, int64_t n) { move(arrays, n, attributes, ratio); });
  });
}

// parameters, gradients, m, v, step, lr, beta1, beta2, eps, weight_decay, maximize
PyObject* call_lamb(const void*, PyObject* const* arguments, Py_ssize_t count) {
  return prepared_or_run(&kernels().lamb, arguments, count, 4, 4, 7, Cost::medium, true, run_lamb);
}

// A list of arrays and the order of the norm, 2 or infinity; returns a 0-d float64 array.
PyObject* call_norm(const void*, PyObject* const* arguments, Py_ssize_t count) {
  double order;
  Lists lists;
  if (count != 2 || !read_attributes(arguments + 1, 1, &order) ||
      !(order == 2 || order == HUGE_VAL) || !lists.read(arguments, 1, 1, 0)) {
    return not_implemented();
  }
  const NormKernel& kernel = kernels().norm;
  Reference result(new_array(NPY_FLOAT64, 0, nullptr));
  if (!result) return nullptr;
  double norm = 0;
  {
    const Work work(lists.entries, Cost::light);
    Unlocked unlocked(work.nanoseconds);
    std::vector<double> parts(work.pieces.size(), 0.0);
    work.run([&](const Piece& piece, size_t number) {
      const Entry& entry = lists.entries[piece.entry];
      const auto part = (order == 2 ? kernel.add_squares
                                    : kernel.raise_to_largest)[static_cast<int>(entry.element)];
      with_arrays(entry, piece, 1, 0,
                  [&](void* const* arrays, int64_t n) { part(arrays[0], n, parts[number]); });
    });
    for (const double part : parts) {
      if (order == 2) {
        norm += part;
      } else if (!(part <= norm) && !std::isnan(norm)) {
        norm = part;
      }
    }
  }
  *static_cast<double*>(PyArray_DATA(result.array())) = order == 2 ? std::sqrt(norm) : norm;
  return result.release();
}

}  // namespace

bool add_optimizer_kernels(PyObject* kernels_by_name) {
  for (const UpdateKernel& kernel : kernels().updates) {
    if (!add_kernel(kernels_by_name, kernel.name, call_update, &kernel)) return false;
  }
  return add_kernel(kernels_by_name, "lamb_update", call_lamb, nullptr) &&
         add_kernel(kernels_by_name, "gradient_norm", call_norm, nullptr);
}

}  // namespace extensor
