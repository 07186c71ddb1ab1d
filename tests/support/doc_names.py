"""What a page names in code (files, options, names, parameters), and what of it does not exist."""

import ast
import builtins
import inspect
import re
import runpy
import shlex
from functools import cache
from importlib import import_module
from pathlib import Path

from typer.main import get_command

import prefero
from prefero.cli.main import build

ROOT = Path(__file__).parents[2]
FOLDERS = "benchmarks data docs examples packaging paper reproduction src tests tools .github .ci"
# Kinds of files that the project writes itself; a page may name tables and models of the reader's.
SOURCES = r"py|pyi|hpp|cpp|md|sh|toml|js|css|yml|cff"
# What the reader puts a name of theirs in place of.
PLACEHOLDERS = ("X.md", "PAPER.md")
# Pages that people write; the reference and the gallery are made from what is there.
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "paper" / "paper.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name not in ("reference", "gallery")
    ),
]
BLOCKS = re.compile(r"^[ ]*```(\S*)[^\n]*\n(.*?)^[ ]*```", re.DOTALL | re.MULTILINE)
SPANS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def code(text):
    """Yield the pieces of code of a page: spans between backticks, and lines of its blocks."""
    for kind, block in BLOCKS.findall(text):
        if not kind.startswith(("{", "mermaid")):
            yield from block.splitlines()
    yield from SPANS.findall(BLOCKS.sub("", text))
    yield from re.findall(r"^    (\S.*)$", BLOCKS.sub("", text), re.MULTILINE)


@cache
def files():
    """Every file of the project, by each of the ways to name it from a folder above it."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS.split():
        found += (ROOT / folder).rglob("*")
    parts = [path.relative_to(ROOT).parts for path in found if "node_modules" not in path.parts]
    return {"/".join(names[k:]) for names in parts for k in range(len(names))}


def wrong_files(text):
    """Files of the project that are not there."""
    tops = {name.partition("/")[0] for name in files() if "/" in name}
    for piece in code(text):
        # A comment that is a path heads a file to be made.
        if "://" in piece or re.fullmatch(r"(#|//) src/\S+", piece):
            continue
        for name in re.findall(r"(?<![\w*<{$/.~-])(?:\./)?((?:\.?[\w-]+/)*[\w.-]+)", piece):
            ours = re.fullmatch(rf"[\w./-]*\w\.({SOURCES})", name)
            if not ours and "/" in name:
                ours = name.partition("/")[0] in tops and "." in name.rpartition("/")[2]
            made = name.startswith(("build/", "dist/")) or name.endswith(PLACEHOLDERS)
            if ours and name not in files() and not made:
                yield name


@cache
def commands():
    """The options of every command by its path: ("order", "train") and the like."""

    def walk(command, path):
        names = {name for parameter in command.params for name in parameter.opts}
        names |= {name for parameter in command.params for name in parameter.secondary_opts}
        yield path, names | {"--help"}
        for name, below in getattr(command, "commands", {}).items():
            yield from walk(below, (*path, name))

    return dict(walk(get_command(build()), ()))


@cache
def scripts():
    """What the scripts say, in which an option is a literal; those of one folder share parts."""
    return {
        folder: "".join(path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py"))
        for folder in ("benchmarks", "reproduction", "tests/attack", "tools")
    }


def words_of(piece):
    """The words of a command line; none if it is no such line."""
    try:
        return shlex.split(piece.replace("...", ""), comments=True)
    except ValueError:
        return []


def wrong_commands(text):
    """Commands and options of the program, of scripts and of make that do not exist."""
    for piece in code(text):
        # Behind two blanks and more stands what a command does.
        words = words_of(re.split(r"\s{2,}", piece.strip().removeprefix("$ "))[0])
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            del words[0]
        options = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
        match words:
            case ["prefero" | ".venv/bin/prefero", *rest]:
                yield from wrong_of_program(rest, options)
            case ["python", script, *_] if script.startswith(tuple(scripts())):
                said = scripts()[script.partition("/")[0]]
                yield from (f"{script} {name}" for name in options if f'"{name}"' not in said)
            case ["make", target] if target not in targets():
                yield f"make {target}"
            case [option] if re.fullmatch(r"--[a-z][a-z-]+", option):
                said = "".join(scripts().values())
                if not any(option in known for known in commands().values()):
                    yield from () if f'"{option}"' in said else [option]


def wrong_of_program(words, options):
    """What is wrong with a line of the program, given its words and those that are options."""
    path = ()
    while words and (*path, words[0]) in commands():
        path = (*path, words.pop(0))
    known = commands()[path] | commands()[()]
    if path == ("reproduce",):
        known = known | set(re.findall(r"--[a-z-]+", scripts()["reproduction"]))
    if words and not path and re.fullmatch(r"[a-z]+", words[0]):
        yield f"prefero {words[0]}"
    yield from (f"prefero {' '.join(path)} {name}" for name in options - known)


@cache
def targets():
    """The targets of the Makefile."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def packages():
    """Every package with public names, as the reference of the site lists them."""
    names = runpy.run_path(str(ROOT / "docs" / "_reference.py"))["PACKAGES"]
    return [import_module(f"prefero.{name}") for name in names]


@cache
def public():
    """Every public thing by its name, and methods of public classes by theirs."""
    found = {}
    for module in (prefero, *packages()):
        for name in module.__all__:
            thing = getattr(module, name)
            found.setdefault(name, []).append(thing)
            if inspect.isclass(thing):
                for method in dir(thing):
                    if not method.startswith("_"):
                        found.setdefault(method, []).append(getattr(thing, method))
    return found


@cache
def words_of_sources():
    """Every word of the package and of the scripts, where an attribute must stand somewhere."""
    found = set(dir(builtins))
    for folder in ("src", "reproduction", "benchmarks", "tests", "tools", "docs"):
        for kind in ("*.py", "*.hpp", "*.cpp", "*.pyi"):
            for path in (ROOT / folder).rglob(kind):
                if path.name not in ("doc_names.py", "test_names.py"):
                    found.update(re.findall(r"\w+", path.read_text("utf-8")))
    return found


def wrong_names(text):
    """Dotted names of the package, and words like attributes or classes, that are nowhere."""
    defined = {word for _, block in BLOCKS.findall(text) for word in re.findall(r"\w+", block)}
    for piece in code(text):
        for name in re.findall(r"(?<![\w./@-])prefero(?:\.[A-Za-z_]\w*)+", piece):
            if name not in files() and not resolves(name):
                yield name
    for span in SPANS.findall(BLOCKS.sub("", text)):
        if re.fullmatch(r"[A-Za-z]\w*_\w*|(?:[A-Z][a-z]+){2,}\w*", span):
            if span not in words_of_sources() and span not in defined:
                yield span


def resolves(name):
    """Whether a dotted name of the package leads to something."""
    thing = prefero
    for part in name.split(".")[1:]:
        try:
            thing = getattr(thing, part)
        except AttributeError:
            try:
                thing = import_module(f"{thing.__name__}.{part}")
            except (ImportError, AttributeError):
                return False
    return True


def wrong_parameters(text):
    """Calls between backticks with a keyword that no public thing of that name takes."""
    for span in SPANS.findall(BLOCKS.sub("", text)):
        try:
            tree = ast.parse(span.replace("(...)", "()").replace(", ...)", ")"), mode="eval")
        except SyntaxError:
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = getattr(call.func, "attr", getattr(call.func, "id", None))
            given = {keyword.arg for keyword in call.keywords if keyword.arg}
            takers = public().get(name, [])
            if takers and given and not any(given <= parameters(taker) for taker in takers):
                yield f"{name}({', '.join(sorted(given))})"


def parameters(thing):
    """The names that a call of it may have; a maker of its class passes on those of the class."""
    try:
        signature = inspect.signature(thing)
    except TypeError:  # a property
        return set()
    found = set(signature.parameters)
    passes_on = any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    maker = getattr(thing, "__self__", None)
    return found | parameters(maker) if passes_on and inspect.isclass(maker) else found
