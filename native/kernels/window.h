#pragma once

#include <cstdint>

namespace extensor {

// Windows along one axis: element k of window i is element i * stride - padding + k * dilation of
// the axis, where there may be none.
struct WindowAxis {
  int64_t in, kernel, out;
  int64_t stride, padding, dilation;
};

}  // namespace extensor
