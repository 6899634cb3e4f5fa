"""Binaries: each parses its flags, calls one function of the library and logs."""
