"""From margins to what a ranker knows: pair probabilities, ties, buckets, expected tau.

A margin says how far one label is ahead of another. How often labels ahead by so much really
come first is learned once, from training rows that the model had not seen, and kept as one small
table of numbers (:func:`learn_calibration`). Everything else is read off it.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
