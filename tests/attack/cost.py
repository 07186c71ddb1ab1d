"""What an input costs: the memory that it takes at its peak, and the work."""

import time
from pathlib import Path

# A small input may cost so much.
SMALL, MOST_MEGABYTES, MOST_SECONDS = 1_000_000, 500, 10


class Cost:
    """Measures a block in this process; Linux tells the peak of its memory."""

    def __enter__(self):
        Path("/proc/self/clear_refs").write_text("5")
        self._held, self._began = _kilobytes("VmRSS"), time.process_time()
        return self

    def __exit__(self, *_):
        self.megabytes = max(0, _kilobytes("VmHWM") - self._held) / 1024
        self.seconds = time.process_time() - self._began

    def too_much(self, size):
        """Whether an input of so many bytes may not cost that."""
        costly = self.megabytes > MOST_MEGABYTES or self.seconds > MOST_SECONDS
        return costly and size < SMALL


def _kilobytes(name):
    about = Path("/proc/self/status").read_text()
    return int(about.partition(f"{name}:")[2].split()[0])


class Largest:
    """The largest costs so far, by kind of input."""

    def __init__(self):
        self.of = {}

    def add(self, kind, megabytes, seconds):
        """Take one more input into account."""
        memory, work = self.of.get(kind, (0.0, 0.0))
        self.of[kind] = max(memory, megabytes), max(work, seconds)

    def cells(self, kind):
        """The cells of a row of a table."""
        kinds = self.of.values() if kind == "all" else [self.of.get(kind, (0.0, 0.0))]
        memory, work = (max(column) for column in zip((0.0, 0.0), *kinds, strict=True))
        return f"{memory:.0f} MB | {work:.1f} s"
