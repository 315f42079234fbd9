"""All of TVM's target tags, and TVM's targets of other configurations.

Reads `ours.json`, an object of configurations by tag, from the folder that it is given. Prints an object by tag: `kind`, `tvm` (the
target of TVM's tag) and `ours` (TVM's target of that configuration), each as TVM exports it.
"""

import json
import pathlib
import sys

from tvm.target import Target, list_tags


def plain(value):
    """Returns a value of TVM's as JSON has it."""
    if hasattr(value, "items"):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return [plain(item) for item in value]


def exported(target):
    """Returns the options of a target, without the label."""
    options = plain(target.export())
    del options["tag"]
    return options


ours = json.loads((pathlib.Path(sys.argv[1]) / "ours.json").read_text())
answer = {}
for name, target in list_tags().items():
    answer[str(name)] = {"kind": str(target.kind.name), "tvm": exported(target)}
for name, config in ours.items():
    answer.setdefault(name, {})["ours"] = exported(Target(config))
print(json.dumps(answer))
