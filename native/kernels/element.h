#pragma once

#include <cstdint>

namespace extensor {

// Which type an elementwise kernel is compiled for; the 16-bit floats go through float32.
enum class Element : uint8_t { float32, float64 };
constexpr int kElements = 2;

}  // namespace extensor
