#include "windows.h"

namespace extensor {

bool lay_windows(int64_t in, int64_t kernel, int64_t stride, Padding padding, int64_t dilation,
                 bool rounded_up, WindowAxis& windows) {
  const int64_t room = in + padding.before + padding.after - dilation * (kernel - 1) - 1 +
                       (rounded_up ? stride - 1 : 0);
  if (room < 0) return false;
  int64_t out = room / stride + 1;
  if (rounded_up && (out - 1) * stride >= in + padding.before) --out;
  windows = {in, kernel, out, stride, padding.before, dilation};
  return out > 0;
}

}  // namespace extensor
