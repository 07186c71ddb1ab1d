"""The long attack on the readers of tables: python tests/attack/fuzz_tables.py --count 20000.

Prints a table of counts, and each failure with the seed that repeats it (--first SEED --count 1).
"""

import argparse
import json
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from attack.bombs import bombs
from attack.cost import Cost, Largest
from attack.tables import Hostile, hostile, read, table_of

SECONDS, GIBIBYTES = 20, 4
# Every so many files is a bomb.
BOMBS_EVERY = 300


class Hang(Exception):
    """A file took too long."""


def _hang(*_):
    raise Hang


def main():
    """Read so many hostile files; exit 1 if one is neither read nor refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="The first seed.")
    parser.add_argument("--json", action="store_true", help="Print kind, outcome, count as JSON.")
    options = parser.parse_args()
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES << 30, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, _hang)
    counts, largest = Counter(), Largest()
    for seed in range(options.first, options.first + options.count):
        random = Random(seed)
        case = hostile(random) if seed % BOMBS_EVERY else bomb(seed // BOMBS_EVERY)
        with Cost() as cost:
            outcome = attack(case, seed, random)
        if cost.too_much(sum(map(len, case.files.values()))):
            outcome = "costly"
            words = f"{cost.megabytes:.0f} MB, {cost.seconds:.1f} s"
            print(f"seed {seed}, {case.kind}, {case.attack}: {words}", file=sys.stderr)
        counts[case.kind, outcome] += 1
        largest.add(case.kind, cost.megabytes, cost.seconds)
    if options.json:
        print(json.dumps([[[*key, n] for key, n in counts.items()], largest.of]))
    else:
        print(f"{options.count} hostile tables from seed {options.first} on:\n")
        print(table_of(counts, largest))
    sys.exit(any(outcome in ("failed", "hung", "costly") for _, outcome in counts))


def bomb(number):
    """Return one of the bombs."""
    name = list(bombs())[number % len(bombs())]
    return Hostile("bombs", name, {name.replace(" ", "-"): bombs()[name]})


def attack(case, seed, random):
    """Read one case; say what happened, and to stderr why if that must not be."""
    folder = Path(tempfile.mkdtemp(prefix="prefero-hostile-"))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return read(case, folder, random)
    except Hang:
        print(f"seed {seed}, {case.kind}, {case.attack}: hung", file=sys.stderr)
        return "hung"
    except Exception:
        print(f"seed {seed}, {case.kind}, {case.attack}:", file=sys.stderr)
        print("".join(traceback.format_exc(limit=-4))[-2000:], file=sys.stderr)
        return "failed"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
