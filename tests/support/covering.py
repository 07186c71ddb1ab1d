"""Cases in which options meet: every pair of values of two options occurs in one of them."""

from itertools import combinations


def covering(options):
    """Yield cases, a value by option, until every pair of values has occurred together."""
    names = list(options)
    pairs = {
        frozenset([(a, i), (b, j)])
        for a, b in combinations(names, 2)
        for i in range(len(options[a]))
        for j in range(len(options[b]))
    }
    while pairs:
        case = dict(min(pairs, key=sorted))
        for name in names:
            if name not in case:
                chosen = list(case.items())
                case[name] = max(
                    range(len(options[name])),
                    key=lambda i: sum(frozenset([(name, i), one]) in pairs for one in chosen),
                )
        pairs -= set(map(frozenset, combinations(case.items(), 2)))
        yield {name: options[name][case[name]] for name in names}
