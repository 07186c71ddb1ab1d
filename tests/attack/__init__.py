"""What tries to break Prefero: hostile files, hostile tables, kills, full disks.

The tests here are a short run; ``python -m attack`` from this folder's parent is the long one, and
writes ``docs/results/reliability.md``.
"""
