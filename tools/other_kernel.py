"""Print an OPENBLAS_CORETYPE that this machine can run and does not choose by itself.

Sums of products differ in their last bits from kernel to kernel: what passes under two of them
does not lean on one processor. Nothing is printed where there is none, or no OpenBLAS.
"""

import platform

import numpy  # noqa: F401 (loads the library that is asked about)
from threadpoolctl import threadpool_info

WIDE = ("SkylakeX", "Cooperlake", "SapphireRapids")


def other_kernel(own: str) -> str:
    """Return a narrower kernel than a machine's own, which it can run as well."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return "" if own.upper() == "ARMV8" else "ARMV8"
    if own in WIDE:
        return "Haswell"
    return "Nehalem" if own != "Nehalem" else "Prescott"


if __name__ == "__main__":
    kernels = [info["architecture"] for info in threadpool_info() if "architecture" in info]
    print(other_kernel(kernels[0]) if kernels else "")
