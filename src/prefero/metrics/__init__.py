"""How good a predicted ranking is.

Every metric compares two rank matrices, or preference graphs and scores, row by row; metrics
of ranks skip labels that either row does not rank. It returns the (weighted) mean over the rows
where it is defined, or with ``average=False`` one value per row, NaN where it is not. The metrics
of label sets are in :mod:`prefero.metrics.multilabel`.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
