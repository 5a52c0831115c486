"""The core: the one door, the pairs and how they are called, the tensor and the tape."""
