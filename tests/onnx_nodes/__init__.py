"""What each kind of node of ONNX is in our functions.

A node's inputs are the arguments of its function, None where it has none, and its attributes are
keywords, with ONNX's defaults. The function gives the node's outputs, all or the first ones.
"""

from __future__ import annotations

from typing import Any

from . import elementwise, indexing, layers, reduction, sequences, shape, training

FAMILIES = (elementwise, indexing, layers, reduction, sequences, shape, training)
TABLE: dict[str, Any] = {kind: node for family in FAMILIES for kind, node in family.NODES.items()}
