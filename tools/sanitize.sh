#!/bin/sh
# Build the extension with sanitizers and run the tests under them:
#   tools/sanitize.sh address,undefined [pytest arguments]
#   tools/sanitize.sh thread [pytest arguments]
# PYTHON, CMAKE and NINJA name the tools; the build lives in build/sanitize-<first sanitizer>.
set -eu
sanitizers=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/sanitize-${sanitizers%%,*}
python=${PYTHON:-$root/.venv/bin/python}
cxx=${CXX:-g++}

# One instruction set, the best that this machine can run: sanitized kernels take long to compile.
case $(uname -m) in
  x86_64)
    isa=v2
    if grep -qw avx2 /proc/cpuinfo; then isa=v3; fi
    if grep -qw avx512vl /proc/cpuinfo; then isa=v4; fi ;;
  *) isa=baseline ;;
esac

"${CMAKE:-$(dirname "$python")/cmake}" -S "$root/native" -B "$build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_MAKE_PROGRAM="${NINJA:-$(dirname "$python")/ninja}" \
  -DPython_EXECUTABLE="$python" \
  -DEXTENSOR_SANITIZE="$sanitizers" -DEXTENSOR_INSTRUCTION_SETS="$isa"
"${NINJA:-$(dirname "$python")/ninja}" -C "$build"

# The package as it is, with this extension in the place of the installed one.
rm -rf "$build/package"
mkdir -p "$build/package"
cp -r "$root/src/"* "$build/package/"
rm -f "$build/package/extensor/"_native*.so
cp "$build/"_native*.so "$build/package/extensor/"
# An editable installation finds its own extension before any path; here it must not.
cat > "$build/package/sitecustomize.py" <<'END'
import sys

sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
END

export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# CPython itself leaks by design (interned objects, static types), so leaks are not looked for.
# An allocation that is too large must fail as it does outside: with a null pointer.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
# Nothing is suppressed. CPython and NumPy are not instrumented, but their calls of pthread functions
# are seen, and with them the interpreter's lock: called_from_lib:libpython3 would hide it, and every
# reference count would look like a race. A forked child may start threads: it makes a pool anew.
export TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1:die_after_fork=0
# OpenBLAS, for NumPy's part, waits for its threads by instructions that are not instrumented.
export OPENBLAS_NUM_THREADS=1

export EXTENSOR_SANITIZED=$sanitizers

echo "runtime_test under $sanitizers"
"$cxx" -std=c++20 -O1 -g -fsanitize="$sanitizers" -pthread -I "$root/native" \
  "$root/tests/native/runtime_test.cpp" "$root"/native/runtime/*.cpp -o "$build/runtime_test"
"$build/runtime_test"

# Python is not linked with the sanitizers: their runtimes must be there before it.
case $sanitizers in
  thread) preload=$("$cxx" -print-file-name=libtsan.so) ;;
  *) preload="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libubsan.so)" ;;
esac
echo "tests under $sanitizers"
run() {
  # libstdc++ too: ASan looks up __cxa_throw when the process starts, Python does not bring it.
  LD_PRELOAD="$preload $("$cxx" -print-file-name=libstdc++.so)" \
    PYTHONPATH="$build/package" PYTHONMALLOC=malloc "$python" "$@"
}
found=$(run -c 'import extensor._native; print(extensor._native.__file__)')
case $found in
  "$build"/*) ;;
  *) echo "the tests would use $found" >&2; exit 1 ;;
esac
# capture=sys: a report goes to the file descriptor, which pytest would keep to itself.
cd "$root"
run -m pytest -p no:cacheprovider --capture=sys "$@"
