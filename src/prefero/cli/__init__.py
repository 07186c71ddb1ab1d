"""The command line: one file a command, listed in the table of `prefero.cli.main`.

Commands import numpy, pandas and scikit-learn inside their functions, so that help is quick.
"""
