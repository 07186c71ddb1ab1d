"""Try the tests: put deliberate bugs into the sources one by one and print those that survive.

    python tools/mutants.py            all of tools/mutants.toml
    python tools/mutants.py holm       those whose description holds a word

A source is changed in place and restored when its tests are done. Exit code 1: a bug survived,
or the text that it replaces is no longer there.
"""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def survives(mutant: dict[str, str]) -> str:
    """Return what is wrong with the tests of a bug; nothing if they notice it."""
    path = ROOT / mutant["file"]
    source = path.read_bytes()
    old, new = mutant["old"].encode(), mutant["new"].encode()
    if source.count(old) != 1:
        return f"stands {source.count(old)} times in {mutant['file']}, not once"
    # No bytecode: that of the bug could outlive it.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *mutant["tests"].split()]
    path.write_bytes(source.replace(old, new))
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    finally:
        path.write_bytes(source)
    # 1 is pytest's code of tests that failed; others are its own troubles.
    if done.returncode == 1:
        return ""
    return "SURVIVES" if done.returncode == 0 else f"was not tested: {done.stdout[-300:]}"


def main(words: list[str]) -> int:
    """Run the mutants that the words name, all without any."""
    # Asked to end, leave by the way that restores the source.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mutants = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text("utf-8"))["mutant"]
    chosen = [m for m in mutants if all(word.lower() in m["what"].lower() for word in words)]
    bad = 0
    for mutant in chosen:
        problem = survives(mutant)
        bad += bool(problem)
        print(f"{problem or 'noticed'}: {mutant['what']}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} were noticed.")
    return int(bad > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
