"""Groups of options that commands share: a dataclass a group, an option a field."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take whole groups of options, each as one argument.

    An option that several groups of a command hold is one option; it stands in the help where
    the first of them does, and all of them get its value.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    own = signature(command).parameters
    options: dict[str, Parameter] = {}
    for name, parameter in own.items():
        alone = [parameter.replace(annotation=hints[name])]
        for option in _options(groups[name]) if name in groups else alone:
            options.setdefault(option.name, option.replace(kind=Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        made = {
            name: group(**{part.name: given[part.name] for part in fields(group)})
            for name, group in groups.items()
        }
        command(**{name: (given | made)[name] for name in own})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _options(group: Any) -> list[Parameter]:
    """The fields of a group as parameters of a function."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            part.name, Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
        )
        for part in fields(group)
    ]
