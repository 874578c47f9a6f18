"""Alula: compiles JAX programs ahead of time into one file."""

__version__ = "0.1.0"
