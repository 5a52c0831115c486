"""The pairs, a file per family."""
from extensor.ops import arithmetic, broadcasting, casting, chain, comparison, exponential, movement, reduction, rounding, selection
from extensor.ops.methods import attach
attach()
