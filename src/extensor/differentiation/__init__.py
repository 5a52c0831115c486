"""Features built on the tape: derivatives of functions, custom ops, and recomputation."""
