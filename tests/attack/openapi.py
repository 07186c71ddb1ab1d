"""Requests made from the service's own description: what it answers is what it said."""

from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)


def examine(app, examples):
    """Send so many requests of each kind to an application; count how each was answered.

    An answer that the description does not allow raises what is wrong with it.
    """
    seen = Counter()
    for found in openapi.from_asgi("/openapi.json", app).get_all_operations():
        _examine_one(found.ok(), examples, seen)
    return seen


def _examine_one(operation, examples, seen):
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
        database=None,
    )
    @given(case=operation.as_strategy())
    def ask(case):
        answer = case.call()
        case.validate_response(answer, checks=list(CHECKS))
        seen[operation.label, answer.status_code] += 1

    ask()
