"""Sweeps: many runs of one configuration with other values, and which of them go on."""
