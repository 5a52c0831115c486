// Steps of optimizers, each one pass over memory. The operations are those of the formulas in
// optim/*.py, in the same order and without contraction, so both give the same bits.
//
// A step is a struct of its attributes: doubles, flags as well, in the order in which Python gives
// them; scale1 and what follows is added by `prepare`.
#include "optimizer.h"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "../simd/pass.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
EX_INLINE Vec<T> constant(double value) {
  return Vec<T>(static_cast<T>(value));
}

template <typename Step>
Step named(const double* attributes) {
  static_assert(sizeof(Step) <= kUpdateAttributes * sizeof(double));
  Step step;
  std::memcpy(&step, attributes, sizeof step);
  return step;
}

// How many attributes Python gives.
template <typename Step>
constexpr int given_attributes() {
  if constexpr (requires(Step step) { step.scale1; }) {
    return offsetof(Step, scale1) / sizeof(double);
  } else {
    return sizeof(Step) / sizeof(double);
  }
}

// The gradient with the penalty on large parameters added, and turned round to climb.
template <typename T>
EX_INLINE Vec<T> descent(Vec<T> gradient, Vec<T> parameter, double weight_decay, double maximize) {
  if (maximize != 0) gradient = -gradient;
  return weight_decay != 0 ? gradient + constant<T>(weight_decay) * parameter : gradient;
}

struct Sgd {
  double step, lr, momentum, dampening, weight_decay, nesterov, maximize;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const velocity = arrays[2];
    const double kept = step == 1 ? 1 : 1 - dampening;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(p, i);
      Vec<T> d = descent(access.load(g, i), x, weight_decay, maximize);
      if (velocity != nullptr) {
        const Vec<T> v = constant<T>(momentum) * access.load(velocity, i) + constant<T>(kept) * d;
        access.store(velocity, i, v);
        d = nesterov != 0 ? d + constant<T>(momentum) * v : v;
      }
      access.store(p, i, x - constant<T>(lr) * d);
    });
  }
};

// The moments of Adam and how far they go by themselves: m / (sqrt(v) + eps), both corrected for
// having begun at zero.
struct Moments {
  double beta1, beta2, eps, scale1, scale2;

  template <typename Step>
  explicit Moments(const Step& step)
      : beta1(step.beta1),
        beta2(step.beta2),
        eps(step.eps),
        scale1(step.scale1),
        scale2(step.scale2) {}

  // Powers take longer than a small parameter, so they are computed once for all of them.
  template <typename Step>
  static void prepare(double* attributes) {
    Step own = named<Step>(attributes);
    own.scale1 = 1 - std::pow(own.beta1, own.step);
    own.scale2 = 1 / std::sqrt(1 - std::pow(own.beta2, own.step));
    std::memcpy(attributes, &own, sizeof own);
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
  double step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize;
  double scale1, scale2;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1];
    void *const first = arrays[2], *const second = arrays[3], *const largest = arrays[4];
    const Moments moments(*this);
    const double rate = lr / scale1;
    const double shrink = decoupled != 0 ? 1 - lr * weight_decay : 1;
    const double penalty = decoupled != 0 ? 0 : weight_decay;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      Vec<T> x = access.load(p, i);
      const Vec<T> d = descent(access.load(g, i), x, penalty, maximize);
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
  double lr, alpha, eps, weight_decay, momentum, maximize;

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
  double step, lr, lr_decay, weight_decay, eps, maximize;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const total = arrays[2];
    const double rate = lr / (1 + (step - 1) * lr_decay);
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
  double lr, rho, eps, weight_decay, maximize;

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
  double lr, beta1, beta2, weight_decay, maximize;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const p = arrays[0], *const g = arrays[1], *const average = arrays[2];
    const double shrink = 1 - lr * weight_decay;
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
  double decay;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void *const average = arrays[0], *const p = arrays[1];
    const double fresh = 1 - decay;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> x = access.load(average, i);
      access.store(average, i, x + constant<T>(fresh) * (access.load(p, i) - x));
    });
  }
};

struct Scale {
  double factor;

  template <typename T>
  void update(void* const* arrays, int64_t n) const {
    void* const g = arrays[0];
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      access.store(g, i, access.load(g, i) * constant<T>(factor));
    });
  }
};

struct Clip {
  double bound;

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
          given_attributes<Step>(),
          cost,
          prepare,
          {[](void* const* data, int64_t n, const double* a) {
             named<Step>(a).template update<float>(data, n);
           },
           [](void* const* data, int64_t n, const double* a) {
             named<Step>(a).template update<double>(data, n);
           }}};
}

constexpr UpdateKernel kUpdates[] = {
    update_kernel<Sgd>("sgd_update", 3, 2, Cost::light),
    update_kernel<Adam>("adam_update", 5, 4, Cost::medium, Moments::prepare<Adam>),
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
  double step, lr, beta1, beta2, eps, weight_decay, maximize;
  double scale1, scale2;

  template <typename T>
  EX_INLINE Vec<T> direction(const Moments& moments, Vec<T> x, Vec<T> m, Vec<T> v) const {
    const Vec<T> u = moments.direction(m * constant<T>(1 / scale1), v);
    return u + constant<T>(weight_decay) * x;
  }
};

template <typename T>
void lamb_measure(void* const* arrays, int64_t n, const double* a, double* squares) {
  const Lamb lamb = named<Lamb>(a);
  const Moments moments(lamb);
  void *const p = arrays[0], *const g = arrays[1], *const first = arrays[2];
  void* const second = arrays[3];
  SquareSum parameter, direction;
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(p, i);
    const Vec<T> d = descent(access.load(g, i), x, 0, lamb.maximize);
    const Vec<T> m = moments.first(access.load(first, i), d);
    const Vec<T> v = moments.second(access.load(second, i), d);
    access.store(first, i, m);
    access.store(second, i, v);
    parameter.add(x);
    direction.add(access.or_zero(lamb.direction(moments, x, m, v)));
  });
  squares[0] += parameter.total();
  squares[1] += direction.total();
}

template <typename T>
void lamb_move(void* const* arrays, int64_t n, const double* a, double ratio) {
  const Lamb lamb = named<Lamb>(a);
  const Moments moments(lamb);
  void *const p = arrays[0], *const first = arrays[2], *const second = arrays[3];
  const double rate = lamb.lr * ratio;
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(p, i);
    const Vec<T> u = lamb.direction(moments, x, access.load(first, i), access.load(second, i));
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
  return {Moments::prepare<Lamb>,
          {lamb_measure<float>, lamb_measure<double>},
          {lamb_move<float>, lamb_move<double>}};
}

NormKernel norm_kernel() {
  return {{add_squares<float>, add_squares<double>},
          {raise_to_largest<float>, raise_to_largest<double>}};
}

}  // namespace extensor::EX_ISA
