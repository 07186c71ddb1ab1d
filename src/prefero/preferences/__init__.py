"""Preference graphs: what is known about the order of the labels of each instance.

A directed edge says that one label is preferred to another. Graphs may be sparse and may hold
cycles; a graph has no self-loop and at most one edge between two labels.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
