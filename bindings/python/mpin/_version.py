"""The version of the package, equal to that of the library that it was made for."""

__version__ = "1.0.0"
