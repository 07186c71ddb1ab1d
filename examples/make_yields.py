"""Write yields.csv: an invented screen of 60 substrates under five conditions, some never run."""

from pathlib import Path

import numpy as np

CONDITIONS = ["Pd(OAc)2/SPhos", "Pd2dba3/XPhos", "Ni(cod)2/dppf", "CuI/phen", "photoredox"]
FEATURES = ["weight", "logP", "sterics", "electronics"]


def main() -> None:
    """Draw the screen and write it beside this file."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, len(FEATURES)))
    effects = rng.normal(size=(len(FEATURES), len(CONDITIONS)))
    latent = X @ effects + rng.normal(scale=0.4, size=(60, len(CONDITIONS)))
    yields = 100 / (1 + np.exp(-latent))
    never_run = rng.random(yields.shape) < 0.2
    features = X * [60, 1.2, 1, 0.3] + [310, 2.5, 0, 0]
    lines = [",".join(["substrate", *FEATURES, *(f"yield {name}" for name in CONDITIONS)])]
    for row in range(60):
        cells = [
            "" if gone else f"{y:.0f}" for y, gone in zip(yields[row], never_run[row], strict=True)
        ]
        lines.append(",".join([f"S{row + 1:02d}", *(f"{x:.2f}" for x in features[row]), *cells]))
    Path(__file__).with_name("yields.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
