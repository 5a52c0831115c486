"""The models whose training steps are measured, a file each.

A file has two functions. ``contestants(libraries, batch, optimizer)`` gives a setup for each
library, whose call makes one step (forward, backward, optimizer) from the same weights on the same
batch and returns the loss. ``work(batch)`` gives the least operations and bytes of a step.
``WORKLOADS`` in ``groups/train.py`` names the files with their batches.
"""
