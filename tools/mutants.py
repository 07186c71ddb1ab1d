"""Try the tests: put deliberate bugs into the sources one by one and print those that survive.

    python tools/mutants.py            all of tools/mutants.toml
    python tools/mutants.py holm       those whose description holds a word

Their tests have to pass before any bug is put in. A source is changed in place and restored when
its tests are done. Exit code 1: a bug survived, or the text that it replaces is no longer there;
2: the tests fail as it is.
"""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Without the sanitizers and the optimizer: the core compiles once a bug.
CORE = ("make", "cpp-test", "CPP_FLAGS=-std=c++17 -O0 -Isrc", "CPP_BUILD=build/cpp/mutants")


def run(tests: str) -> tuple[str, str]:
    """Run tests, pytest's arguments or ``core``; say whether they pass, and what they print."""
    # No bytecode: that of the bug could outlive it.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    python = (sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *tests.split())
    command = CORE if tests == "core" else python
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return "pass", output
    # 1 is pytest's code of tests that failed; others are its own troubles, or the compiler's.
    failed = " passed, " in output if tests == "core" else done.returncode == 1
    return ("fail" if failed else "broken"), output


def survives(mutant: dict[str, str]) -> str:
    """Return what is wrong with the tests of a bug; nothing if they notice it."""
    path = ROOT / mutant["file"]
    source = path.read_bytes()
    old, new = mutant["old"].encode(), mutant["new"].encode()
    if source.count(old) != 1:
        return f"stands {source.count(old)} times in {mutant['file']}, not once"
    path.write_bytes(source.replace(old, new))
    try:
        outcome, output = run(mutant["tests"])
    finally:
        path.write_bytes(source)
    words = {"pass": "SURVIVES", "fail": "", "broken": f"was not tested: {output[-300:]}"}
    return words[outcome]


def sound(tests: list[str]) -> bool:
    """Whether the tests pass on the sources as they are; print those that do not."""
    outcomes = {arguments: run(arguments) for arguments in dict.fromkeys(tests)}
    for arguments, (outcome, output) in outcomes.items():
        if outcome != "pass":
            print(f"Without any bug in the sources, {arguments} must pass:\n{output[-2000:]}")
    return all(outcome == "pass" for outcome, _ in outcomes.values())


def main(words: list[str]) -> int:
    """Run the mutants that the words name, all without any."""
    # Asked to end, leave by the way that restores the source.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mutants = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text("utf-8"))["mutant"]
    chosen = [m for m in mutants if all(word.lower() in m["what"].lower() for word in words)]
    if not sound([mutant["tests"] for mutant in chosen]):
        return 2
    bad = 0
    for mutant in chosen:
        problem = survives(mutant)
        bad += bool(problem)
        print(f"{problem or 'noticed'}: {mutant['what']}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} were noticed.")
    return int(bad > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
