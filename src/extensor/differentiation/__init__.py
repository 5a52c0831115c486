"""What is built on the tape: derivatives of functions, users' own ops, and recomputation."""
