"""Counts and times of requests, in the text format of Prometheus."""

import os
import threading
from collections import Counter

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Measures:
    """What one worker has done so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0
        self._instances: Counter[str] = Counter()
        self.running = 0

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        with self._lock:
            self._requests[route, status] += 1
            self._seconds += seconds
            for bound in _BUCKETS:
                if seconds <= bound:
                    self._buckets[bound] += 1
                    break

    def count_instances(self, model: str, n: int) -> None:
        """Count instances that a model was asked about."""
        with self._lock:
            self._instances[model] += n

    def text(self, loaded: dict[str, float]) -> str:
        """Return everything; ``loaded`` is when each model was read."""
        worker = f'worker="{os.getpid()}"'
        with self._lock:
            total, seen = sum(self._requests.values()), 0
            lines = ["# TYPE prefero_requests_total counter"]
            for (route, status), n in sorted(self._requests.items()):
                labels = f'{worker},route="{route}",status="{status}"'
                lines.append(f"prefero_requests_total{{{labels}}} {n}")
            lines.append("# TYPE prefero_request_seconds histogram")
            for bound in _BUCKETS:
                seen += self._buckets[bound]
                lines.append(f'prefero_request_seconds_bucket{{{worker},le="{bound}"}} {seen}')
            lines += [
                f'prefero_request_seconds_bucket{{{worker},le="+Inf"}} {total}',
                f"prefero_request_seconds_sum{{{worker}}} {self._seconds:.6f}",
                f"prefero_request_seconds_count{{{worker}}} {total}",
                "# TYPE prefero_instances_total counter",
                *(
                    f'prefero_instances_total{{{worker},model="{_escaped(name)}"}} {n}'
                    for name, n in sorted(self._instances.items())
                ),
                "# TYPE prefero_requests_running gauge",
                f"prefero_requests_running{{{worker}}} {self.running}",
                "# TYPE prefero_model_loaded_seconds gauge",
                *(
                    f'prefero_model_loaded_seconds{{{worker},model="{_escaped(name)}"}} {when:.3f}'
                    for name, when in sorted(loaded.items())
                ),
            ]
        return "\n".join(lines) + "\n"


def _escaped(name: str) -> str:
    return name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
