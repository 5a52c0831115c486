"""Files: states saved whole, and read again only if they are as they were written."""

from extensor.io.state_file import DamagedFileError, load, save

__all__ = ["DamagedFileError", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
