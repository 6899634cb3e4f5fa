"""Whole experiments, made of the parts of the package."""
