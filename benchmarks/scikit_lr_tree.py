"""Time the label ranking tree of scikit-lr, in the interpreter that has it.

``trees.py --peer-python`` runs this file with the Python that can import scikit-lr, which needs
another version than ours. It reads X and Y from an .npz file, grows the tree several times and
prints the best CPU time::

    python scikit_lr_tree.py data.npz --repeat 3
"""

import argparse
import time

import numpy as np
from sklr.tree import DecisionTreeLabelRanker


def main() -> None:
    """Print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with np.load(options.data) as arrays:
        X, Y = arrays["X"], arrays["Y"]
    if not np.isnan(Y).any():
        Y = Y.astype(np.int64)
    best = np.inf
    for _ in range(options.repeat):
        # The stopping rule of Cheng et al. (2009), as TreeLabelRanker.lrt() has it.
        tree = DecisionTreeLabelRanker(
            min_samples_split=2 * Y.shape[1], min_samples_leaf=2, random_state=0
        )
        start = time.process_time()
        tree.fit(X, Y)
        best = min(best, time.process_time() - start)
    print(best)


if __name__ == "__main__":
    main()
