"""The program as a whole: help, usage errors, exit codes, what goes to which stream."""

import gc
import signal
import subprocess
import sys
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from typer.main import get_command

from cli_program import PROGRAM, prefero
from prefero import label_ranking
from prefero.cli import main as cli
from prefero.cli import models
from prefero.exceptions import DataError, ModelFileError


def test_help_lists_every_command():
    done = prefero("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in cli.COMMANDS)
    assert "...\n" not in done.stdout.partition("Commands:")[2]


def test_help_loads_no_numeric_package():
    code = (
        "import sys\nsys.argv = ['prefero', '--help']\nfrom prefero.cli.main import main\n"
        "try:\n    main()\n"
        "finally:\n    print({'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_version():
    assert prefero("--version").stdout.startswith("prefero ")


@pytest.mark.parametrize("arguments", [["nonsense"], ["demo", "--nonsense"], ["demo", "extra"]])
def test_wrong_usage_exits_2_and_says_so_on_stderr(arguments):
    done = prefero(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DataError("Empty.", "d.csv", 1), 3, "d.csv:1: Empty."),
        (ValueError("y is wrong."), 3, "y is wrong."),
        (ModelFileError("Not a model."), 4, "Not a model."),
        (OSError(28, "No space left on device"), 3, "No space left"),
        (MemoryError("Unable to allocate 8 TiB"), 1, "not enough memory for this (Unable to"),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("oops"), 1, "unexpected ZeroDivisionError: oops"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_each_failure_has_its_exit_code_and_one_sentence(
    error, code, sentence, monkeypatch, capsys
):
    def fail():
        raise error

    assert _exit_code(fail, monkeypatch) == code
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.err.count("\n") <= 1
    assert shown.out == ""


def test_no_convergence_exits_5_after_the_result(monkeypatch, capsys):
    def work():
        print("result")
        warnings.warn("no optimum yet", ConvergenceWarning, stacklevel=1)
        sys.exit(0)

    assert _exit_code(work, monkeypatch) == 5
    shown = capsys.readouterr()
    assert shown.out == "result\n"
    assert shown.err == "prefero: warning: no optimum yet\n"


@pytest.mark.parametrize("n_rows", [3, 100_000])
def test_a_reader_that_has_had_enough_is_no_failure(n_rows, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "1,2\n" * n_rows)
    command = [PROGRAM, "convert", table, "-", "--to", "orders"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.close()
        words = program.stderr.read().decode()
    assert program.returncode == 0
    assert "Broken" not in words
    assert "Traceback" not in words


def test_a_missing_package_is_asked_for_in_one_sentence():
    code = "import sys\nsys.modules['typer'] = None\nfrom prefero.cli.main import main\nmain()\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "prefero: The command line needs the package 'typer': pip install 'prefero[cli]'.\n"
    )


def test_ctrl_c_exits_130_without_a_word():
    with subprocess.Popen(
        [PROGRAM, "aggregate", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        # The program waits for more of its input when the signal comes.
        program.stdin.write(b"a,b\n" * 100_000)
        program.stdin.flush()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert (program.returncode, out, err) == (130, b"", b"")


def test_traceback_on_request(monkeypatch):
    def fail():
        raise ValueError("y is wrong.")

    monkeypatch.setenv("PREFERO_TRACEBACK", "1")
    monkeypatch.setattr(cli, "build", lambda words: fail)
    with pytest.raises(ValueError, match="y is wrong"):
        cli.main()


@pytest.mark.parametrize("long", [False, True])
def test_garbage_of_imports_is_not_looked_for(long, monkeypatch):
    usual, callbacks, seen = gc.get_threshold(), list(gc.callbacks), []

    def work():
        seen.append(gc.get_threshold()[0])
        if long:
            gc.collect()
            seen.append(gc.get_threshold()[0])
        sys.exit(0)

    assert _exit_code(work, monkeypatch) == 0
    assert seen[0] > usual[0]
    assert seen[1:] == [usual[0]] * long
    assert (gc.get_threshold(), gc.callbacks) == (usual, callbacks)


def test_what_is_left_at_the_end_is_not_looked_through():
    code = (
        "import atexit, gc, sys\nsys.argv = ['prefero', '--version']\n"
        "from prefero.cli.main import main\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["True"]


def _exit_code(app, monkeypatch):
    monkeypatch.setattr(cli, "build", lambda words: app)
    # Under pytest warnings are errors; here they are shown, as in a terminal.
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with pytest.raises(SystemExit) as done:
            cli.main()
    return done.value.code


def test_every_label_ranker_is_offered():
    offered = {choice.estimator for choice in models.RANKERS}
    known = {name for name in label_ranking.__all__ if name.endswith("LabelRanker")}
    # It wraps an estimator that no word on the command line names.
    assert offered == known - {"RegressionLabelRanker"}


def test_only_the_command_that_is_asked_for_is_built():
    assert set(get_command(cli.build(["predict", "--help"])).commands) == {"predict"}
    for words in ((), ["predikt"], ["--help"], ["--version", "predict"]):
        assert set(get_command(cli.build(words)).commands) == set(cli.COMMANDS)
