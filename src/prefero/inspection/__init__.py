"""Explanations of predictions, and displays of rankings and experiments.

A display is made by a ``from_...`` constructor and drawn by ``plot(ax=None)``, which keeps the
axes as ``ax_`` and the figure as ``figure_``, like scikit-learn's displays. Matplotlib is
imported when the first one is drawn. Lines and bars differ by shape as well as by color.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
