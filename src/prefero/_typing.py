"""The array types that annotations across the package share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
ArrayOrNone = ArrayLike | None
