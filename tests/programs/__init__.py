"""Random training programs: the same bits for any number of workers, the same tensors compiled."""
