"""Label-ranking data sets: shipped, generated, or downloaded.

Every set is a scikit-learn ``Bunch`` with ``data``, ``target`` (ranks), ``feature_names``,
``label_names`` and ``DESCR``.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
