"""An experiment as one page: what was found, in what data, and how to find it again."""

from prefero.report.page import write_report

__all__ = ["write_report"]
