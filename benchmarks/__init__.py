"""Side by side with NumPy, PyTorch and JAX: ``python -m benchmarks`` (see README.md)."""
