"""Read and write rankings in files of every format.

A file becomes a `DataTable`, whatever its format; `read_rankings` takes instances and their
rankings out of it. The words in `MISSING` are missing values in every format.
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
