"""What tries to break Prefero: hostile files, tables and requests, kills, full disks.

The tests here are a short run; ``make attack`` is the long one, and
writes ``docs/results/reliability.md``; ``python benchmarks/service.py`` is that of the service.
"""
