"""The command line: one file per command, listed in `prefero.cli.main`.

Commands import numpy, pandas and scikit-learn inside their functions, so that help is quick.
"""
