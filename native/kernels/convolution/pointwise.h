// Convolutions with kernels of one element: products of the weights and each image as it lies.
#pragma once

#include <algorithm>

#include "../matrix/gemm_plan.h"
#include "window.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
bool is_pointwise(const Correlation<T>& p) {
  const auto is_plain = [](const CorrelationAxis& axis) {
    return axis.first == 0 && axis.step == 1 && axis.source == axis.out;
  };
  const bool fills_planes = p.out_column == 1 && p.out_row == p.x.out;
  return p.kernel_size == 1 && is_plain(p.y) && is_plain(p.x) && fills_planes;
}

// Whether the tiles of a product are well filled; measured.
template <typename T>
bool is_worth_a_product(const Correlation<T>& p) {
  return p.channels >= 32 && p.outputs >= 8 && p.out_plane >= 16;
}

template <typename T>
void fill_with_bias(const Correlation<T>& p, ParallelFor run) {
  const int64_t channels = p.groups * p.outputs;
  for_each_item(run, p.batch * channels, wanted_tasks(p.cost()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::fill_n(p.out + i * p.out_plane, p.out_plane, p.bias[i % channels]);
    }
  });
}

template <typename T>
void correlate_pointwise(const Correlation<T>& p, const Workers& workers) {
  if (p.bias) fill_with_bias(p, workers.run);
  for (int64_t group = 0; group < p.groups; ++group) {
    Gemm<T> images;
    images.m = p.outputs;
    images.k = p.channels;
    images.n = p.out_plane;
    images.a = p.weight_of(group, 0);
    images.a_row = p.weight_output;
    images.a_column = p.weight_channel;
    images.b = p.image(0, group);
    images.b_row = p.out_plane;
    images.c = p.output(0, group);
    images.c_row = p.out_plane;
    images.accumulate = p.bias != nullptr;
    images.batch = p.batch;
    images.b_batch = p.groups * p.channels * p.out_plane;
    images.c_batch = p.groups * p.outputs * p.out_plane;
    gemm(images, workers);
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
