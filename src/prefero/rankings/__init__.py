"""What a ranking is: validate it, convert it, blank parts of it.

Ranks are the numeric form used everywhere: ``Y[i, j]`` is the position of label ``j`` for
instance ``i``. Smaller is better, equal means tied, NaN means unknown (not: last). Only the
order inside a row counts. Converters that meet label names return the ranks and the labels.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
