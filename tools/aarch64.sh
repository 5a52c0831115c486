#!/bin/sh
# Cross-build the extension for aarch64 and run the tests there, emulated by QEMU:
#   tools/aarch64.sh [pytest arguments]
# Needs Debian's g++-aarch64-linux-gnu, qemu-user-static and mmdebstrap. PYTHON names a Python with
# pip, CMake and Ninja; all that is made is in build/aarch64, but for the extension.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/aarch64
python=${PYTHON:-$root/.venv/bin/python}

# Debian's Python and the libraries that it and NumPy load, unpacked and not installed.
if [ ! -x "$build/python" ]; then
  rm -rf "$build/system" "$build/packages"
  mkdir -p "$build"
  mmdebstrap --arch=arm64 --variant=extract \
    --include=python3.11,libpython3.11-dev,libstdc++6 bookworm "$build/system"
  "$python" -m pip install --quiet --target "$build/packages" --python-version 3.11 \
    --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 --only-binary=:all: \
    --group "$root/pyproject.toml:test" \
    $("$python" -c 'import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["project"]["dependencies"])' "$root/pyproject.toml")
  # The sources are found by their path: what an installation would say of them is only this.
  mkdir "$build/packages/extensor-0.dist-info"
  "$python" -c 'import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print("Metadata-Version: 2.1", *(f"{x.title()}: {project[x]}" for x in ("name", "version")), sep="\n")
' "$root/pyproject.toml" > "$build/packages/extensor-0.dist-info/METADATA"
  # Tests start Pythons of their own: sys.executable must be what the system here can run.
  cat > "$build/new" <<END
#!/bin/sh
export PYTHONHOME="$build/system/usr" PYTHONPATH="$root/src:$build/packages"
exec qemu-aarch64-static -L "$build/system" -0 "$build/python" "$build/system/usr/bin/python3.11" "\$@"
END
  chmod +x "$build/new"
  mv "$build/new" "$build/python"
fi

# Only a Python for aarch64 loads an extension of this name, so it can lie beside the other.
"$(dirname "$python")/cmake" -S "$root/native" -B "$build/native" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_MAKE_PROGRAM="$(dirname "$python")/ninja" \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_CXX_FLAGS="-idirafter $build/system/usr/include" \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$root/src/extensor" -DPython_EXECUTABLE="$build/python"
"$(dirname "$python")/ninja" -C "$build/native"

cd "$root"
exec "$build/python" -m pytest -p no:cacheprovider "$@"
