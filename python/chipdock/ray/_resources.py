"""What a machine offers to Ray, and what a worker asks Ray for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import ray

import chipdock

from ._worker import device_api_of

#: Ray's functions about the cluster have no types.
_ray: Any = ray
#: Before the name of a device API: the name of a custom resource.
PREFIX = "chipdock_"
#: How much of `chipdock_cpu` a worker takes: it marks the machines, CPUs count the workers.
MARK = 0.001


def nodes() -> list[Mapping[str, Any]]:
    """Returns the nodes that are alive, as Ray describes them."""
    return [node for node in _ray.nodes() if node["Alive"]]


def resources() -> dict[str, float]:
    """Returns the devices of this machine as custom resources of Ray: ``{"chipdock_cpu": 1.0, "chipdock_opencl": 1.0}``.

    Resources are fixed when a node starts: ``ray start --resources="$(python -m chipdock.ray)"``, or
    ``Cluster.add_node(resources=chipdock.ray.resources())``.
    """
    found = {api["name"]: len(api["devices"]) for api in chipdock.device_apis()}
    return {PREFIX + name: float(n_devices) for name, n_devices in found.items() if n_devices}


def target_text(target: Any) -> str:
    """Returns a target as text that every machine completes for itself; a `Target` is complete already."""
    if isinstance(target, str):
        return target
    if not isinstance(target, (chipdock.Target, Mapping)):
        raise TypeError(f"target: expected a kind's name, JSON, a mapping of options or a chipdock.Target, found {target!r}")
    return json.dumps(target.options if isinstance(target, chipdock.Target) else dict(target))


def n_workers(target: str, threads: int) -> int:
    """Returns how many workers of a target the cluster has room for."""
    found, api = _ray.cluster_resources(), device_api(target)
    n_devices = int(found.get(PREFIX + api, 0))
    n_cpus = max(int(found.get("CPU", 1)) // threads, 1)
    # Without custom resources a device is thought to be on each node.
    return n_cpus if api == "cpu" else n_devices or min(n_cpus, len(nodes()))


def device_api(target: str) -> str:
    """Returns the device API of a target, as far as the driver can know it."""
    kinds = {one["kind"]: one for one in chipdock.targets()}
    kind: Any = target
    # A text with a "/" is the name of a tag.
    tag: Any = target if "/" in target else None
    if target.lstrip().startswith("{"):
        try:
            options = json.loads(target)
            kind, tag = options.get("kind"), options.get("tag")
        except ValueError as error:
            raise ValueError(f"target: expected a kind's name or a target as JSON, found {target!r}: {error}") from None
    if kind not in kinds and tag:
        kind = chipdock.target_tags().get(tag, {}).get("kind")
    if kind not in kinds:
        raise ValueError(f"target: expected a kind of {', '.join(sorted(kinds))}, or a target as JSON, found {target!r}")
    known = [api["name"] for api in chipdock.device_apis()]
    return device_api_of(kinds[kind].get("target") or {"kind": kind, "keys": []}, known)


def request(api: str) -> dict[str, float]:
    """Returns the custom resources that a worker asks for: none where no node advertises the device API."""
    name = PREFIX + api
    if not any(name in node["Resources"] for node in nodes()):
        return {}
    return {name: MARK if api == "cpu" else 1.0}
