from extensor import ops
from extensor.creation import (
    arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, one_hot, ones, ones_like, zeros, zeros_like,
)
from extensor.dtypes import *
from extensor.op import OPS
from extensor.ops.broadcasting import are_shapes_broadcastable, broadcast_shapes, compute_broadcast_strides
from extensor.tape import backward, detect_anomaly, enable_grad, grad, gradient_eps, is_grad_enabled, no_grad
from extensor.tensor import Tensor, tensor

for n,o in OPS.items():
    globals()[n]=o.function
    if o.rule: globals()[n+"_backward"]=o.rule.function
