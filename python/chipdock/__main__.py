"""`python -m chipdock`: the command `chipdock`, where its script is not on PATH."""

from ._command import main

main()
