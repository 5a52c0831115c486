"""The pairs, a file per family."""
from extensor.ops import arithmetic, broadcasting, casting, chain, comparison, exponential, movement, reduction, rounding, selection
from extensor.ops import activation, activation_hard, activation_smooth, special, trigonometric
from extensor.ops import arrangement, indexing, joining, padding, sorting
from extensor.ops import einsum, matrix, search, statistics
from extensor.ops.methods import attach
attach()
