"""Files: states saved whole, and read again only if they are as they were written."""

from extensor.io.state import DamagedFileError, load, save

__all__ = ["DamagedFileError", "load", "save"]
