"""One cluster of several nodes for all tests here. Nothing of it uses a network but this machine's own."""

import contextlib
import os
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import psutil
import pytest
import ray
from ray.cluster_utils import Cluster

sys.path.insert(0, str(Path(__file__).parent.parent))
import sampling  # noqa: E402

#: A run takes one test in so many: each waits for processes of Ray.
SHARE = 3
MIB = 1 << 20
#: Object store of each node: the least that Ray takes is 75 MiB.
STORE = 80 * MIB


def session():
    """The folder of the cluster that this process is connected to: other clusters on this machine are not ours."""
    return ray._private.worker._global_node.get_session_dir_path()


def processes(folder):
    """Ray's processes of a cluster, found by where they log to: id and name."""
    found = []
    for one in psutil.process_iter(["pid", "cmdline"]):
        logs = [f"/proc/{one.pid}/fd/{number}" for number in (1, 2)]
        with contextlib.suppress(OSError, psutil.Error):
            # A zombie has no open files.
            if any(os.readlink(log).startswith(folder + os.sep) for log in logs):
                found.append((one.pid, " ".join(one.info["cmdline"] or ())[:80].strip()))
    return found


def workers():
    """Processes of our actors."""
    return [one for one in processes(session()) if one[1].startswith("ray::Worker")]


class Nodes:
    """The cluster: a head without CPUs, where the driver is, and nodes with one each."""

    def __init__(self):
        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False,
                # Every object that a store has no room for is logged. A node that is gone is noticed after 5 s instead of 15.
                # How full the disk is does not matter: Ray refuses objects above 95 %, whatever room that leaves.
                "_system_config": {
                    "verbose_spill_logs": 1, "min_spilling_size": 0, "health_check_period_ms": 1000, "local_fs_capacity_threshold": 1.0,
                },
            },
        )
        self.nodes = []
        self.keep(2)
        ray.init(address=self.cluster.address, log_to_driver=False)

    def add(self, **options):
        node = self.cluster.add_node(num_cpus=1, object_store_memory=STORE, **options)
        self.nodes.append(node)
        return node

    def kill(self, node):
        """As a machine that fails: nothing of it is told anything."""
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)

    def remove(self, node):
        """As a machine that leaves: the others know at once."""
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=True)

    def keep(self, n_nodes):
        """Brings the plain nodes to that many, and waits until the cluster knows."""
        while len(self.nodes) < n_nodes:
            self.add()
        for node in self.nodes[n_nodes:]:
            self.remove(node)
        deadline = time.monotonic() + 60
        while ray.is_initialized() and len(self.alive()) != n_nodes and time.monotonic() < deadline:
            time.sleep(0.1)

    def alive(self):
        return [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]

    def n_spilled(self):
        """How many objects the stores had no room for."""
        logs = Path(self.cluster.head_node.get_logs_dir_path()).glob("raylet*.out")
        return sum(int(count) for log in logs for count in re.findall(r"Spilled \d+ MiB, (\d+) objects", log.read_text())[-1:])

    def close(self):
        ray.shutdown()
        self.cluster.shutdown()


def pytest_collection_modifyitems(config, items):
    sampling.keep_sample(config, items, list(items), SHARE, "tests with Ray")


@pytest.fixture(scope="session")
def cluster():
    made = Nodes()
    folder = session()
    assert len(processes(folder)) >= 4, "the head's and the nodes' processes are seen"
    yield made
    made.close()
    deadline = time.monotonic() + 20
    while (left := processes(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, f"processes are left: {left}"


@pytest.fixture
def nodes(cluster):
    """The cluster with two nodes and all of its CPUs free."""
    cluster.keep(2)
    yield cluster
    deadline = time.monotonic() + 20
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers(), f"actors are left: {workers()}"


@pytest.fixture
def rng():
    return np.random.default_rng(7)
