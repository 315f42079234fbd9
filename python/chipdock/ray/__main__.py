"""Prints the devices of this machine as Ray's resources: ``ray start --resources="$(python -m chipdock.ray)"``."""

import json

from . import resources

print(json.dumps(resources()))
