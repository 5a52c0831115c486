"""The native backend: calls of kernels, recorded once and run again on the memory of a program."""
