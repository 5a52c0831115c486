// Elementary and activation functions on Vec<float> and Vec<double>.
//
// Constants are minimax polynomials made by benchmarks/accuracy/coefficients.py; errors are
// measured by benchmarks/accuracy/accuracy.py. A value's result never depends on
// its lane or on its neighbours: branches on `any(mask)` only choose between paths that agree on
// the lanes outside of the mask.
#pragma once

#include "activation.h"
#include "exp.h"
#include "hyperbolic.h"
#include "inverse_trig.h"
#include "log.h"
#include "normal.h"
#include "pow.h"
#include "root.h"
#include "trig.h"
