// Steps of optimizers, each one pass over memory. The operations are those of the formulas in
// optim/*.py, in the same order and without contraction, so both give the same bits.
#include "optimizer.h"

#include <cmath>

#include "../simd/pass.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
EX_INLINE Vec<T> constant(double value) {
  return Vec<T>(static_cast<T>(value));
}

// The gradient with the penalty on large parameters added, and turned round to climb.
template <typename T>
EX_INLINE Vec<T> descent(Vec<T> gradient, Vec<T> parameter, double weight_decay, bool maximize) {
  if (maximize) gradient = -gradient;
  return weight_decay != 0 ? gradient + constant<T>(weight_decay) * parameter : gradient;
}

struct Sgd {
  static constexpr int kAttributes = 7;
  double lr, momentum, kept, weight_decay;
  bool nesterov, maximize;

  // step, lr, momentum, dampening, weight_decay, nesterov, maximize
  explicit Sgd(const double* a)
      : lr(a[1]),
        momentum(a[2]),
        kept(a[0] == 1 ? 1 : 1 - a[3]),
        weight_decay(a[4]),
        nesterov(a[5] != 0),
        maximize(a[6] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const velocity = arrays[2];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i);
      Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      if (velocity != nullptr) {
        const Vec<T> v = constant<T>(momentum) * access.load(velocity, i) + constant<T>(kept) * d;
        access.store(velocity, i, v);
        d = nesterov ? d + constant<T>(momentum) * v : v;
      }
      access.store(p, i, x - constant<T>(lr) * d);
    });
  }
};

// The moments of Adam and how far they go by themselves: m / (sqrt(v) + eps), both corrected for
// having begun at zero.
struct Moments {
  double beta1, beta2, eps, scale1, scale2;

  // step, lr, beta1, beta2, eps, ...
  explicit Moments(const double* a)
      : beta1(a[2]), beta2(a[3]), eps(a[4]), scale1(a[kScale1]), scale2(a[kScale2]) {}

  // Powers take longer than a small parameter, so they are computed once for all of them.
  static constexpr int kScale1 = 8, kScale2 = 9;
  static void prepare(double* a) {
    a[kScale1] = 1 - std::pow(a[2], a[0]);
    a[kScale2] = 1 / std::sqrt(1 - std::pow(a[3], a[0]));
  }

  template <typename T>
  EX_INLINE Vec<T> first(Vec<T> m, Vec<T> d) const {
    return constant<T>(beta1) * m + constant<T>(1 - beta1) * d;
  }
  template <typename T>
  EX_INLINE Vec<T> second(Vec<T> v, Vec<T> d) const {
    return constant<T>(beta2) * v + constant<T>(1 - beta2) * (d * d);
  }
  template <typename T>
  EX_INLINE Vec<T> direction(Vec<T> m, Vec<T> v) const {
    return m / (sqrt(v) * constant<T>(scale2) + constant<T>(eps));
  }
};

struct Adam {
  static constexpr int kAttributes = 8;
  Moments moments;
  double rate, shrink, weight_decay;
  bool maximize;

  // step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize
  explicit Adam(const double* a)
      : moments(a),
        rate(a[1] / moments.scale1),
        shrink(a[6] != 0 ? 1 - a[1] * a[5] : 1),
        weight_decay(a[6] != 0 ? 0 : a[5]),
        maximize(a[7] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1];
    void *const first = arrays[2], *const second = arrays[3], *const largest = arrays[4];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      Vec<T> x = access.load(p, i);
      const Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      const Vec<T> m = moments.first(access.load(first, i), d);
      Vec<T> v = moments.second(access.load(second, i), d);
      access.store(first, i, m);
      access.store(second, i, v);
      if (largest != nullptr) {
        v = maximum(access.load(largest, i), v);
        access.store(largest, i, v);
      }
      x = x * constant<T>(shrink);
      access.store(p, i, x - constant<T>(rate) * moments.direction(m, v));
    });
  }
};

struct RmsProp {
  static constexpr int kAttributes = 6;
  double lr, alpha, eps, weight_decay, momentum;
  bool maximize;

  // lr, alpha, eps, weight_decay, momentum, maximize
  explicit RmsProp(const double* a)
      : lr(a[0]), alpha(a[1]), eps(a[2]), weight_decay(a[3]), momentum(a[4]), maximize(a[5] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1];
    void *const square = arrays[2], *const mean = arrays[3], *const velocity = arrays[4];
    const double fresh = 1 - alpha;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i);
      const Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      Vec<T> v = constant<T>(alpha) * access.load(square, i) + constant<T>(fresh) * (d * d);
      access.store(square, i, v);
      if (mean != nullptr) {
        const Vec<T> m = constant<T>(alpha) * access.load(mean, i) + constant<T>(fresh) * d;
        access.store(mean, i, m);
        v = maximum(v - m * m, Vec<T>(T(0)));
      }
      Vec<T> u = d / (sqrt(v) + constant<T>(eps));
      if (velocity != nullptr) {
        u = constant<T>(momentum) * access.load(velocity, i) + u;
        access.store(velocity, i, u);
      }
      access.store(p, i, x - constant<T>(lr) * u);
    });
  }
};

struct Adagrad {
  static constexpr int kAttributes = 6;
  double rate, weight_decay, eps;
  bool maximize;

  // step, lr, lr_decay, weight_decay, eps, maximize
  explicit Adagrad(const double* a)
      : rate(a[1] / (1 + (a[0] - 1) * a[2])), weight_decay(a[3]), eps(a[4]), maximize(a[5] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const total = arrays[2];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i);
      const Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      const Vec<T> v = access.load(total, i) + d * d;
      access.store(total, i, v);
      access.store(p, i, x - constant<T>(rate) * (d / (sqrt(v) + constant<T>(eps))));
    });
  }
};

struct Adadelta {
  static constexpr int kAttributes = 5;
  double lr, rho, eps, weight_decay;
  bool maximize;

  // lr, rho, eps, weight_decay, maximize
  explicit Adadelta(const double* a)
      : lr(a[0]), rho(a[1]), eps(a[2]), weight_decay(a[3]), maximize(a[4] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1];
    void *const square = arrays[2], *const moved = arrays[3];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i), w = access.load(moved, i);
      const Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      const Vec<T> v = constant<T>(rho) * access.load(square, i) + constant<T>(1 - rho) * (d * d);
      const Vec<T> u = sqrt(w + constant<T>(eps)) / sqrt(v + constant<T>(eps)) * d;
      access.store(square, i, v);
      access.store(moved, i, constant<T>(rho) * w + constant<T>(1 - rho) * (u * u));
      access.store(p, i, x - constant<T>(lr) * u);
    });
  }
};

// -1, 0 or 1; NaN stays.
template <typename T>
EX_INLINE Vec<T> sign(Vec<T> x) {
  return select(abs(x) > Vec<T>(T(0)), copysign(Vec<T>(T(1)), x), x);
}

struct Lion {
  static constexpr int kAttributes = 5;
  double lr, beta1, beta2, shrink;
  bool maximize;

  // lr, beta1, beta2, weight_decay, maximize
  explicit Lion(const double* a)
      : lr(a[0]), beta1(a[1]), beta2(a[2]), shrink(1 - a[0] * a[3]), maximize(a[4] != 0) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const average = arrays[2];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i), m = access.load(average, i);
      const Vec<T> d = descent(access.load(g, i), x, 0, maximize);
      const Vec<T> c = constant<T>(beta1) * m + constant<T>(1 - beta1) * d;
      access.store(average, i, constant<T>(beta2) * m + constant<T>(1 - beta2) * d);
      access.store(p, i, x * constant<T>(shrink) - constant<T>(lr) * sign(c));
    });
  }
};

// A moving average of the parameters: here the average is what changes and they are read.
struct Average {
  static constexpr int kAttributes = 1;
  double fresh;

  explicit Average(const double* a) : fresh(1 - a[0]) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const average = arrays[0], *const p = arrays[1];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(average, i);
      access.store(average, i, x + constant<T>(fresh) * (access.load(p, i) - x));
    });
  }
};

struct Scale {
  static constexpr int kAttributes = 1;
  double factor;

  explicit Scale(const double* a) : factor(a[0]) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void* const g = arrays[0];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      access.store(g, i, access.load(g, i) * constant<T>(factor));
    });
  }
};

struct Clip {
  static constexpr int kAttributes = 1;
  double bound;

  explicit Clip(const double* a) : bound(a[0]) {}

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void* const g = arrays[0];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(g, i);
      access.store(g, i, minimum(maximum(x, constant<T>(-bound)), constant<T>(bound)));
    });
  }
};

template <typename Step>
constexpr UpdateKernel update_kernel(const char* name, int arrays, int required, Cost cost,
                                     void (*prepare)(double*) = nullptr) {
  return {name,
          arrays,
          required,
          Step::kAttributes,
          cost,
          prepare,
          {[](void* const* data, int64_t n, const double* a) {
             Step(a).template update<float>(data, n);
           },
           [](void* const* data, int64_t n, const double* a) {
             Step(a).template update<double>(data, n);
           }}};
}

constexpr UpdateKernel kUpdates[] = {
    update_kernel<Sgd>("sgd_update", 3, 2, Cost::light),
    update_kernel<Adam>("adam_update", 5, 4, Cost::medium, Moments::prepare),
    update_kernel<RmsProp>("rmsprop_update", 5, 3, Cost::medium),
    update_kernel<Adagrad>("adagrad_update", 3, 3, Cost::medium),
    update_kernel<Adadelta>("adadelta_update", 4, 4, Cost::medium),
    update_kernel<Lion>("lion_update", 3, 3, Cost::light),
    update_kernel<Average>("average_update", 2, 2, Cost::light),
    update_kernel<Scale>("scale_update", 1, 1, Cost::light),
    update_kernel<Clip>("clip_update", 1, 1, Cost::light),
};

// Sums squares in float64, whatever is squared.
struct SquareSum {
  Vec<double> low = Vec<double>(0.0), high = Vec<double>(0.0);

  EX_INLINE void add(Vec<float> x) {
    const DoublePair wide = to_double(x);
    low += wide.low * wide.low;
    high += wide.high * wide.high;
  }
  EX_INLINE void add(Vec<double> x) { low += x * x; }
  double total() const { return horizontal_sum(low + high); }
};

struct Lamb {
  Moments moments;
  double lr, weight_decay;
  bool maximize;

  // step, lr, beta1, beta2, eps, weight_decay, maximize
  explicit Lamb(const double* a) : moments(a), lr(a[1]), weight_decay(a[5]), maximize(a[6] != 0) {}

  template <typename T>
  EX_INLINE Vec<T> direction(Vec<T> x, Vec<T> m, Vec<T> v) const {
    const Vec<T> u = moments.direction(m * constant<T>(1 / moments.scale1), v);
    return u + constant<T>(weight_decay) * x;
  }
};

template <typename T>
void lamb_measure(void* const* arrays, int64_t n, const double* a, double* squares) {
  const Lamb lamb(a);
  void *const p = arrays[0], *const g = arrays[1], *const first = arrays[2];
  void* const second = arrays[3];
  SquareSum parameter, direction;
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(p, i);
    const Vec<T> d = descent(access.load(g, i), x, 0, lamb.maximize);
    const Vec<T> m = lamb.moments.first(access.load(first, i), d);
    const Vec<T> v = lamb.moments.second(access.load(second, i), d);
    access.store(first, i, m);
    access.store(second, i, v);
    parameter.add(x);
    direction.add(access.or_zero(lamb.direction(x, m, v)));
  });
  squares[0] += parameter.total();
  squares[1] += direction.total();
}

template <typename T>
void lamb_move(void* const* arrays, int64_t n, const double* a, double ratio) {
  const Lamb lamb(a);
  void *const p = arrays[0], *const first = arrays[2], *const second = arrays[3];
  const double rate = lamb.lr * ratio;
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(p, i);
    const Vec<T> u = lamb.direction(x, access.load(first, i), access.load(second, i));
    access.store(p, i, x - constant<T>(rate) * u);
  });
}

template <typename T>
void add_squares(const void* x, int64_t n, double& total) {
  SquareSum squares;
  for_each_vector<T>(n, [&](auto access, int64_t i) { squares.add(access.load(x, i)); });
  total += squares.total();
}

template <typename T>
void raise_to_largest(const void* x, int64_t n, double& largest) {
  Vec<T> found(T(0));
  for_each_vector<T>(
      n, [&](auto access, int64_t i) { found = maximum(found, abs(access.load(x, i))); });
  const double here = horizontal_max(found);
  if (!(here <= largest) && largest == largest) largest = here;
}

}  // namespace

std::span<const UpdateKernel> update_kernels() { return kUpdates; }

LambKernel lamb_kernel() {
  return {Moments::prepare,
          {lamb_measure<float>, lamb_measure<double>},
          {lamb_move<float>, lamb_move<double>}};
}

NormKernel norm_kernel() {
  return {{add_squares<float>, add_squares<double>},
          {raise_to_largest<float>, raise_to_largest<double>}};
}

}  // namespace extensor::EX_ISA
