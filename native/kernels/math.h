// Elementary and activation functions on Vec<float> and Vec<double>.
//
// Constants are minimax polynomials made by benchmarks/accuracy/coefficients.py; errors are
// measured by benchmarks/accuracy/accuracy.py. A value's result never depends on
// its lane or on its neighbours: branches on `any(mask)` only choose between paths that agree on
// the lanes outside of the mask.
#pragma once

#include "math_activation.h"
#include "math_exp.h"
#include "math_hyperbolic.h"
#include "math_inverse_trig.h"
#include "math_log.h"
#include "math_normal.h"
#include "math_pow.h"
#include "math_root.h"
#include "math_trig.h"
