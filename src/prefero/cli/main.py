"""The entry point: the commands, and the exit code of each kind of failure."""

import atexit
import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import prefero
from prefero._optional import require
from prefero.cli.console import brief, printable
from prefero.exceptions import DataError, ModelFileError

# Each is a module of this package with a function, or a group of commands, of the same name, and
# EXAMPLES.
COMMANDS = (
    *("demo", "check", "convert", "train", "predict", "evaluate", "explain", "compare", "info"),
    *("order", "aggregate", "reproduce", "serve"),
)

# Messages of the library name parameters as in Python, categorical='zip'; here they are options.
_OPTION = re.compile(r"\b(categorical|format|ignore|instance)=(?=')")

# The objects that imports make stay to the end: collecting garbage among them would take longer
# than many a command.
_OBJECTS_OF_IMPORTS = 400_000

UNEXPECTED, WRONG_USE, BAD_DATA, BAD_MODEL_FILE, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 4, 5, 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Without this a process spends a fifth of a second on garbage collection at exit.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    _need_streams()
    with _late_collection(), _plain_warnings() as categories:
        try:
            sys.exit(build(sys.argv[1:])())
        except SystemExit as done:
            if _reader_left(done):
                sys.exit(0)
            if not done.code and "ConvergenceWarning" in categories:
                sys.exit(NOT_CONVERGED)
            raise
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except Exception as error:
            if os.environ.get("PREFERO_TRACEBACK"):
                raise
            if hasattr(error, "show"):  # of the command line itself
                shown = io.StringIO()
                error.show(shown)
                print(brief(shown.getvalue()), end="", file=sys.stderr)
                sys.exit(error.exit_code)  # type: ignore[attr-defined]
            if type(error).__name__ == "Abort":
                sys.exit(INTERRUPTED)
            code, sentence = _exit_code(error)
            print(brief(f"prefero: {sentence}"), file=sys.stderr)
            sys.exit(code)


def _need_streams() -> None:
    """Open what is closed, lest a file take its place: only stdout is missed."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)
    closed = sys.stdout is None
    if closed:
        sys.stdout = open(os.devnull, "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if closed:
        print("prefero: stdout is closed: redirect it.", file=sys.stderr)
        sys.exit(WRONG_USE)


def _reader_left(done: SystemExit) -> bool:
    """Tell whether the reader of stdout, such as head, has stopped: that is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Discard the rest of the buffer, or Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"prefero: stdout cannot be written: {error.strerror}.", file=sys.stderr)
        sys.exit(BAD_DATA)
    return isinstance(done.__context__, BrokenPipeError)


def build(words: Sequence[str] = ()) -> Callable[[], Any]:
    """Return the application with the command that the words begin with, or with all commands.

    Importing all of them takes longer than many a command.
    """
    typer = require("typer", extra="cli", purpose="The command line")
    from prefero.cli.options import with_option_groups

    class App(typer.Typer):  # type: ignore[name-defined]
        """Leaves errors of the command line to `main`."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return super().__call__(*args, **{"standalone_mode": False, **kwargs})

    app = App(
        name="prefero",
        help="Learn to order: label ranking, multilabel ranking and supervised ordering.",
        epilog="Start with: prefero demo",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        module = import_module(f"prefero.cli.{name}")
        command, epilog = getattr(module, name), _examples(module.EXAMPLES)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, epilog=epilog)
        else:
            settings = getattr(module, "SETTINGS", None)
            with_help = with_option_groups(command)
            app.command(name, epilog=epilog, context_settings=settings)(with_help)

    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"prefero {prefero.__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        """Learn to order: label ranking, multilabel ranking and supervised ordering."""

    return app


def _examples(commands: Sequence[str]) -> str:
    """Return the end of a help page; the mark keeps its lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def _exit_code(error: Exception) -> tuple[int, str]:
    """The exit code and the sentence of an error; bad input is a ValueError."""
    if isinstance(error, ModelFileError):
        return BAD_MODEL_FILE, str(error)
    if isinstance(error, DataError):
        return BAD_DATA, _OPTION.sub(r"--\1 ", str(error))
    if isinstance(error, UnicodeError):
        return BAD_DATA, f"a file or name is no text in UTF-8 ({error})."
    if isinstance(error, ValueError):
        return BAD_DATA, " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return (
            UNEXPECTED,
            f"there is not enough memory for this{f' ({error})' if str(error) else ''}.",
        )
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return BAD_DATA, f"{named}{error.strerror}." if error.strerror else str(error)
    if isinstance(error, ImportError):
        return UNEXPECTED, str(error)
    return UNEXPECTED, (
        f"unexpected {type(error).__name__}: {error} "
        "(set PREFERO_TRACEBACK=1 to see where, and please report it)"
    )


@contextmanager
def _late_collection() -> Iterator[None]:
    """Collect garbage as usual once a command has made more objects than its imports do."""
    usual = gc.get_threshold()

    def collect_as_usual(phase: str = "stop", _: Any = None) -> None:
        if phase == "stop" and collect_as_usual in gc.callbacks:
            gc.callbacks.remove(collect_as_usual)
            gc.set_threshold(*usual)

    gc.callbacks.append(collect_as_usual)
    gc.set_threshold(_OBJECTS_OF_IMPORTS, *usual[1:])
    try:
        yield
    finally:
        collect_as_usual()


@contextmanager
def _plain_warnings() -> Iterator[set[str]]:
    """Show each warning as one line; yield the set that collects their categories."""
    categories: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        categories.add(category.__name__)
        print(printable(f"prefero: warning: {message}"), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield categories
