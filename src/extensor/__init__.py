from extensor.tensor import Tensor, tensor
from extensor.tape import *
from extensor import ops
from extensor.op import OPS
from extensor.dtypes import *
for n,o in OPS.items():
    globals()[n]=o.function
    if o.rule: globals()[n+"_backward"]=o.rule.function
