"""Draws the pictures of docs/data.md into docs/images: a kind of data each.

::

    python docs/draw_data.py

They have a ground of their own, so that they read alike on light and on dark pages, and are narrow
enough to be read on a telephone.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
WIDTH = 480
GROUND, INK, PALE, CHIP, LINE = "#f6f8fa", "#1f2933", "#52606d", "#1b5e8a", "#9aa5b1"
STEP, SIZE, LEFT, CELL = 54, 38, 32, 42


def text(x: float, y: float, words: str, *, color: str = INK, size: int = 17, **more: str) -> str:
    """Return words around a point."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    anchor = "" if "text_anchor" in more else ' text-anchor="middle"'
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{color}" font-size="{size}"{anchor}{extra}>{words}</text>'
    )


def box(x: float, y: float, width: float, height: float, look: str) -> str:
    """Return a rectangle by its upper left corner."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>'


def chip(x: float, y: float, name: str, *, known: bool = True) -> str:
    """Return a label: a filled square, or an open one where nothing is known of it."""
    look = f'fill="{CHIP}"' if known else f'fill="none" stroke="{PALE}" stroke-dasharray="4 3"'
    square = box(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE, f'rx="7" {look}')
    return square + text(x, y + 6, name, color="#ffffff" if known else INK)


def arrow(x1: float, y1: float, x2: float, y2: float, color: str = PALE) -> str:
    """Return an arrow between two points."""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" '
        'stroke-width="2" marker-end="url(#head)"/>'
    )


def cells(x: float, y: float, names: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    """Yield a row of a table under the names of its columns."""
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        at = x + CELL * k
        yield text(at, y - 18, name, color=PALE, size=15)
        yield box(at - CELL / 2, y - 10, CELL, 30, f'fill="#ffffff" stroke="{LINE}"')
        yield text(at, y + 11, value)


def order(buckets: Sequence[str], unknown: str = "", *, zero_after: int | None = None) -> list[str]:
    """Return the places from the best on, a bucket of labels at each, and what is unknown apart."""
    tallest = max(map(len, buckets))
    middle = 44 + tallest * (SIZE + 6) / 2
    drawn = [text(LEFT, 22, "best", color=PALE, size=15)]
    drawn.append(arrow(LEFT + 22, 17, LEFT + STEP * len(buckets) - 20, 17))
    for k, bucket in enumerate(buckets):
        top = middle - (len(bucket) - 1) * (SIZE + 6) / 2
        drawn += [
            chip(LEFT + STEP * k, top + j * (SIZE + 6), name) for j, name in enumerate(bucket)
        ]
        if zero_after == k:
            x = LEFT + STEP * (k + 0.5)
            drawn.append(box(x - 1.5, 32, 3, middle - 2, f'fill="{INK}"'))
    right = LEFT + STEP * len(buckets)
    for j, name in enumerate(unknown):
        drawn.append(chip(right + 14 + STEP * j, middle, name, known=False))
    if unknown:
        drawn.append(
            text(right + 14 + STEP * (len(unknown) - 1) / 2, 22, "unknown", color=PALE, size=15)
        )
    return drawn


def ranking(
    buckets: Sequence[str], row: Sequence[str], unknown: str = "", zero_after: int | None = None
) -> str:
    """Return an order beside its row of ranks."""
    height = 68 + max(map(len, buckets)) * (SIZE + 6)
    names = sorted(name for name in "".join(buckets) + unknown)
    heads = [*names, "zero"] if zero_after is not None else names
    drawn = order(buckets, unknown, zero_after=zero_after)
    drawn += cells(WIDTH - 32 - CELL * (len(row) - 1), height / 2, heads, row)
    return page(height, drawn)


def scores() -> str:
    """Return numbers, larger better, beside their ranks."""
    values = {"a": 0.72, "b": 0.91, "c": 0.30}
    drawn = []
    for k, (name, value) in enumerate(values.items()):
        y = 36 + 44 * k
        drawn.append(chip(LEFT, y, name))
        drawn.append(box(62, y - 11, 180 * value, 22, f'fill="{LINE}"'))
        drawn.append(text(70 + 180 * value, y + 6, f"{value:.2f}", text_anchor="start"))
    drawn += cells(WIDTH - 32 - 2 * CELL, 80, list(values), ["2", "1", "3"])
    return page(160, drawn)


def graph() -> str:
    """Return two preference graphs: one that knows little, one that goes in a circle."""
    drawn = [text(100, 22, "few edges", color=PALE, size=15)]
    sparse = {"a": (40, 70), "b": (160, 70), "c": (40, 140), "d": (160, 140)}
    drawn += [chip(*at, name) for name, at in sparse.items()]
    drawn += [arrow(62, 70, 136, 70), arrow(62, 130, 138, 86)]
    drawn.append(text(350, 22, "a circle", color=PALE, size=15))
    circle = {"a": (350, 60), "b": (430, 150), "c": (270, 150)}
    drawn += [chip(*at, name) for name, at in circle.items()]
    drawn += [arrow(368, 82, 408, 128), arrow(406, 150, 296, 150), arrow(290, 128, 330, 82)]
    return page(190, drawn)


def groups() -> str:
    """Return objects with features in two groups, ranked inside each."""
    drawn = [
        text(x, 24, words, color=PALE, size=15)
        for x, words in ((50, "groups"), (190, "X: features"), (370, "y: rank in its group"))
    ]
    rows = [("q1", "0.2, 3.1", "2"), ("q1", "0.9, 1.0", "1"), ("q1", "0.1, 0.4", "3")]
    rows += [("q2", "0.7, 2.2", "1"), ("q2", "0.3, 0.1", "2")]
    for k, (group, features, rank) in enumerate(rows):
        y = 52 + 30 * k + (10 if group == "q2" else 0)
        shade = "#dbe7f0" if group == "q1" else "#ffffff"
        drawn.append(box(12, y - 20, WIDTH - 24, 28, f'fill="{shade}" stroke="{LINE}"'))
        drawn.append(text(50, y, group))
        drawn.append(text(190, y, features))
        drawn.append(text(370, y, rank))
    return page(210, drawn)


def page(height: float, drawn: Sequence[str]) -> str:
    """Return the whole picture."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" font-family="system-ui, sans-serif">\n'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{PALE}"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{height:g}" rx="8" fill="{GROUND}"/>\n'
    )
    return head + "\n".join(drawn) + "\n</svg>\n"


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "data-ranks.svg": ranking(["b", "a", "d", "c"], ["2", "1", "4", "3"]),
        "data-scores.svg": scores(),
        "data-ties.svg": ranking(["b", "ac", "d"], ["2", "1", "2", "4"]),
        "data-missing.svg": ranking(["b", "a"], ["2", "1", "NaN", "NaN"], unknown="cd"),
        "data-top-k.svg": ranking(["c", "a", "bd"], ["2", "3", "1", "3"]),
        "data-virtual-label.svg": ranking(
            ["b", "d", "a", "c"], ["4", "1", "5", "2", "3"], zero_after=1
        ),
        "data-graph.svg": graph(),
        "data-groups.svg": groups(),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
