// Notes the calls that are run in a thread, and where the memory of their inputs came from, so that
// a program can run them again on other memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "interpreter.h"
#include "kernel.h"
#include "mode.h"

namespace extensor {

// The byte of a buffer at which an array begins.
struct Place {
  int buffer;
  int64_t offset;
};

// A call that was run.
struct RecordedCall {
  // A cache line: problems may hold vectors.
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  PyObject* name;        // of the kernel
  PyObject* attributes;  // a tuple of its arguments that are no arrays, or null
  Call::Run run;
  std::shared_ptr<const void> shared;  // the problem, or null where `problem` has it
  std::vector<Line> problem;
  std::vector<Place> inputs, outputs;  // an output that is absent has buffer -1
  std::vector<bool> computed;          // outputs that a run fills
  double numbers[Call::kMaxNumbers];
  uint64_t words[Call::kMaxWords];
  int64_t nanoseconds;
  bool depends_on_values;
  int changed_inputs;

  const void* the_problem() const { return shared ? shared.get() : problem.data(); }
};

// A piece of memory: of an array that was bound before, made by a call, or found among the inputs
// of a call and taken for a constant. All of them are kept alive, so no two share an address.
struct RecordedBuffer {
  enum class Kind : int { bound, fresh, constant };
  Kind kind;
  PyObject* array;
  PyObject* contents;  // of a constant, as bytes, before a call could change it; else null
  char* begin;
  int64_t bytes;
};

// The memory of an array, from its first byte on, whatever its strides.
void bounds_of(PyArrayObject* array, char*& begin, int64_t& bytes);

class Recorder {
 public:
  Recorder() = default;
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Around the run of a call. False with a Python error set.
  bool begin(const Call& call, PyObject* const* inputs, int count);
  bool end(PyObject* name, const Call& call, PyObject* const* outputs, const double* numbers,
           const uint64_t* words);

  // Keeps the attributes of the last call. False with a Python error set.
  bool keep_attributes(PyObject* const* arguments, Py_ssize_t count);

  // A new buffer with the memory of an array, which is borrowed; -1 with a Python error set.
  int add(PyObject* array, RecordedBuffer::Kind kind);
  // Where an array lies. One that is not known becomes a constant. False with a Python error set.
  bool find(PyObject* array, Place& place);
  // The same without that: false if it is not known.
  bool knows(PyObject* array, Place& place) const;
  // How many references to an array are the recorder's own.
  Py_ssize_t references_to(PyObject* array) const;
  // Gives up the arrays, and with them the memory. Nothing can be recorded any more.
  void release();

  std::vector<RecordedCall> calls;
  std::vector<RecordedBuffer> buffers;

 private:
  std::map<char*, int> by_address_;  // the buffers, by their first bytes
  std::vector<Place> inputs_;        // of the call that is run
};

// The recorder that an object of Python's stands for; null if it is none.
Recorder* recorder_of(PyObject* object);

// Adds the class Recorder and set_recorder to the module.
bool add_recorder_type(PyObject* module);

}  // namespace extensor
