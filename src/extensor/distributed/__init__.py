"""Training on several workers, with the bits of one."""
