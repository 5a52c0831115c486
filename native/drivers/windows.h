// Where windows lie along an axis: what convolutions and poolings have in common.
#pragma once

#include "../kernels/window.h"

namespace extensor {

// What is added at both ends of an axis.
struct Padding {
  int64_t before, after;
};

// That of "same": windows that reach over 1 + `reach` elements and move by 1 are as many as there
// are elements. One more stands after the axis than before it where the reach is odd.
inline Padding same_padding(int64_t reach) { return {reach / 2, reach - reach / 2}; }

// The windows of `kernel` elements that fit into a padded axis of `in`. Those that are cut off at
// the end count if the number is `rounded_up` and they do not begin behind the axis. False if there
// is none.
bool lay_windows(int64_t in, int64_t kernel, int64_t stride, Padding padding, int64_t dilation,
                 bool rounded_up, WindowAxis& windows);

}  // namespace extensor
