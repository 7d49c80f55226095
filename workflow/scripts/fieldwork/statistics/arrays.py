"""Names of the array types that the statistics take and give."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Mentions = NDArray[Any]
"""How often options are named: counts, or sums of the probabilities that they are."""
