"""The driver: which worker gets which block, and what happens when one is lost. Placement, transport and the store are Ray's."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import exceptions as lost

import chipdock

from . import _resources
from ._blocks import Block, Blocks
from ._progress import Bar, Report, bar_of
from ._worker import Job, Place, Worker

#: What Ray raises when a worker, its node or an object on it is gone: the block is computed again.
LOST = (
    lost.RayActorError, lost.WorkerCrashedError, lost.NodeDiedError, lost.LocalRayletDiedError, lost.ObjectLostError,
    lost.OutOfMemoryError, chipdock.DeviceLost,
)
#: Blocks that a worker has at once: one that it computes, and one that is on its way; more where their way is longer than their work.
QUEUE, QUEUE_SHORT = 2, 4
#: Blocks that take less are short.
SHORT_SECONDS = 0.05
#: Arrays that Ray sends with a call; larger ones go by the object store.
INLINE_BYTES_MAX = 90_000
#: How much of the smallest object store blocks and results may fill.
STORE_SHARE = 0.4


@dataclass
class Options:
    """What `map_blocks` was given."""

    #: Artifact that is there already, or text and file of the kernel.
    artifact: bytes | None
    source: tuple[str, str]
    compile: dict[str, Any]
    #: Number of workers of each target.
    workers: dict[str, int]
    constants: dict[str, Any]
    function: str | None
    threads: int
    retries: int
    in_flight: int | None
    ordered: bool
    ray_remote_args: dict[str, Any]
    start_seconds_max: float


@dataclass
class _Member:
    """A worker as the driver sees it."""

    target: str
    api: str
    actor: Any = None
    place: Place | None = None
    device_id: int = 0
    #: It has loaded the artifact.
    ready: bool = False
    #: Its blocks, in the order in which it computes them.
    blocks: deque[Block] = field(default_factory=deque)
    #: How many of its actors were lost without a result.
    losses: int = 0
    #: When it gave its last answer, and how long its blocks take since, smoothed.
    answered: float = 0.0
    seconds_per_block: float = SHORT_SECONDS

    def queue(self) -> int:
        """How many blocks it may have at once."""
        return QUEUE_SHORT if self.seconds_per_block < SHORT_SECONDS else QUEUE

    def answer(self) -> None:
        """Notes that it computed a block."""
        now = time.monotonic()
        self.seconds_per_block += ((now - self.answered) - self.seconds_per_block) / 4
        self.answered, self.losses = now, 0


@dataclass
class _Asked:
    """What a reference that Ray has not answered yet is for."""

    member: _Member
    then: Callable[[_Asked, Any], None]
    block: Block | None = None


class Map:
    """One map of a kernel over blocks."""

    def __init__(self, blocks: Blocks, options: Options, progress: Any) -> None:
        self.options, self.blocks = options, blocks
        self.report = Report(n_blocks=blocks.total)
        self._show = bar_of(progress)
        self._members: list[_Member] = []
        self._pending: dict[Any, _Asked] = {}
        self._again: deque[Block] = deque()
        self._done: dict[int, Any] = {}
        self._next, self._n_flying, self._all_made = 0, 0, False
        self._artifacts: dict[str, Any] = {}
        self._compiling: dict[str, _Member] = {}
        #: Nodes without a target, with the reason.
        self._unfit: dict[str, dict[str, str]] = {}
        self._block_bytes = self._result_bytes = 0
        self._constants: list[Any] = []
        self._capacity = 0.0
        self._progressed = time.monotonic()

    def results(self) -> Generator[Any, None, None]:
        """Yields the results. Its end, an exception and `close` kill the workers."""
        if self.blocks.total == 0:
            return
        try:
            self._start()
            while True:
                self._submit()
                yield from self._finished()
                if self._all_made and not self._n_flying:
                    return
                self._wait()
        finally:
            self._stop()

    # Workers.

    def _start(self) -> None:
        if not ray.is_initialized():
            ray.init()
        stores = [node["Resources"].get("object_store_memory", 0.0) for node in _resources.nodes()]
        self._capacity = min((size for size in stores if size), default=0.0)
        self._constants = [ray.put(value) for value in self.options.constants.values()]
        if self.options.artifact is not None:
            self._artifacts[""] = ray.put(self.options.artifact)
        for target, n_workers in self.options.workers.items():
            api = _resources.device_api(target)
            for _ in range(n_workers):
                member = _Member(target, api)
                self._members.append(member)
                self._employ(member)

    def _request(self, member: _Member) -> dict[str, Any]:
        """What an actor asks Ray for."""
        given = self.options.ray_remote_args
        asked: dict[str, Any] = {"num_cpus": self.options.threads, "scheduling_strategy": "SPREAD"}
        asked |= given | {"resources": _resources.request(member.api) | given.get("resources", {})}
        unfit = self._unfit.get(member.target)
        if unfit:
            excluded = {"ray.io/node-id": f"!in({','.join(sorted(unfit))})"}
            asked["label_selector"] = given.get("label_selector", {}) | excluded
        return asked

    def _employ(self, member: _Member) -> None:
        """Makes the actor of a member. Ray places it, also later when there is no room now."""
        member.ready, member.place = False, None
        member.actor = ray.remote(Worker).options(**self._request(member)).remote(self.options.threads)
        self._ask(member.actor.prepare.remote(member.target, chipdock.__version__), _Asked(member, self._prepared))

    def _ask(self, reference: Any, asked: _Asked) -> None:
        self._pending[reference] = asked

    def _prepared(self, asked: _Asked, place: Place) -> None:
        member = asked.member
        if place.target is None:
            self._refuse(member, place)
            return
        taken = {one.device_id for one in self._members if one.place and (one.place.node, one.api) == (place.node, place.device_api)}
        free = [at for at in range(place.n_devices) if at not in taken]
        member.place, member.device_id, member.api = place, free[0] if free else 0, place.device_api
        self._equip(member)

    def _refuse(self, member: _Member, place: Place) -> None:
        """The member's machine is not fit for its target: it is started elsewhere, if there is an elsewhere."""
        unfit = self._unfit.setdefault(member.target, {})
        unfit[place.node] = place.problem
        ray.kill(member.actor)
        if all(node["NodeID"] in unfit for node in self._with_room(member)):
            raise chipdock.Unavailable(f"no node of the cluster has target {member.target}: {_reasons(unfit)}")
        self._employ(member)

    def _with_room(self, member: _Member) -> list[Mapping[str, Any]]:
        """The nodes on which Ray could place a member."""
        asked = self._request(member)
        wanted = {**asked.get("resources", {}), "CPU": asked.get("num_cpus", 0), "GPU": asked.get("num_gpus", 0)}
        return [
            node for node in _resources.nodes() if all(node["Resources"].get(name, 0) >= size for name, size in wanted.items())
        ]

    def _equip(self, member: _Member) -> None:
        """Loads the artifact on a worker; the first worker of a target compiles it."""
        assert member.place is not None and member.place.target is not None
        key = member.place.target if self.options.artifact is None else ""
        if key in self._artifacts:
            job = Job(self.options.function, tuple(self.options.constants), self.blocks.read, member.device_id)
            loaded = member.actor.load.remote(self._artifacts[key], member.place.target, job, *self._constants)
            self._ask(loaded, _Asked(member, self._loaded))
        elif key not in self._compiling:
            self._compiling[key] = member
            self.report.compiled[key] += 1
            made = member.actor.compile.remote(*self.options.source, key, self.options.compile)
            self._ask(made, _Asked(member, self._compiled))

    def _compiled(self, asked: _Asked, artifact: bytes) -> None:
        assert asked.member.place is not None and asked.member.place.target is not None
        key = asked.member.place.target
        del self._compiling[key]
        # On the driver's node: it outlives the worker that made it.
        self._artifacts[key] = ray.put(artifact)
        self._equip_all(key)

    def _equip_all(self, key: str) -> None:
        for member in self._members:
            if member.place is not None and member.place.target == key and not member.ready:
                self._equip(member)

    def _loaded(self, asked: _Asked, _: None) -> None:
        asked.member.ready, asked.member.answered = True, time.monotonic()

    def _lost(self, member: _Member, error: BaseException) -> None:
        """A worker is gone: its blocks are given to others, and a new one is started, which Ray places as soon as a node has room."""
        self._forget([one for one, asked in self._pending.items() if asked.member is member])
        blocks, member.blocks = member.blocks, deque()
        if blocks:
            # It computed the first, as far as the driver knows: an answer may have been lost with it. The others waited behind.
            blocks[0].losses += 1
            if blocks[0].losses > self.options.retries:
                _note(error, f"block {blocks[0].index} was given up after {blocks[0].losses} workers that computed it were lost")
                raise error
            self.report.n_retried += len(blocks)
            self._again.extendleft(reversed(blocks))
        key = member.place.target if member.place is not None else None
        ray.kill(member.actor)
        member.losses += 1
        if member.losses > self.options.retries:
            self._members.remove(member)
            if not self._members:
                _note(error, f"no worker is left: each was lost {member.losses} times in a row")
                raise error
        else:
            self._employ(member)
        if key is not None and self._compiling.get(key) is member:
            del self._compiling[key]
            self._equip_all(key)

    # Blocks.

    def _limit(self) -> int:
        """How many blocks may be in the object store, with their results."""
        ready = [member.queue() + 1 for member in self._members if member.ready]
        limit = sum(ready) if self.options.in_flight is None else self.options.in_flight
        size = self._block_bytes + max(self._result_bytes, self._block_bytes if self.blocks.read is None else 0)
        if size and self._capacity and self.options.in_flight is None:
            limit = min(limit, int(self._capacity * STORE_SHARE / size))
        return max(limit, 1)

    def _submit(self) -> None:
        while True:
            free = [member for member in self._members if member.ready and len(member.blocks) < member.queue()]
            if not free:
                break
            member = min(free, key=lambda one: len(one.blocks))
            block = self._again.popleft() if self._again else self._make()
            if block is None:
                break
            member.blocks.append(block)
            self._ask(member.actor.run.remote(*block.arguments), _Asked(member, self._computed, block))
        self.report.n_workers = sum(member.ready for member in self._members)

    def _make(self) -> Block | None:
        """The next block, unless too many are in flight."""
        if self._all_made or self._n_flying >= self._limit():
            return None
        block = self.blocks.next(_sent)
        if block is None:
            self._all_made = True
            return None
        self._n_flying += 1
        self._block_bytes = max(self._block_bytes, block.size_bytes)
        self.report.n_in_flight_max = max(self.report.n_in_flight_max, self._n_flying)
        return block

    def _computed(self, asked: _Asked, result: Any) -> None:
        member, block = asked.member, asked.block
        assert member.place is not None and block is not None
        member.blocks.remove(block)
        member.answer()
        self._done[block.index] = result
        self._result_bytes = max(self._result_bytes, sum(one.nbytes for one in (result if isinstance(result, tuple) else (result,))))
        self.report.n_done += 1
        self.report.done_by[member.place.node, member.target] += 1
        if self._show is not None:
            self._show(self.report)

    def _finished(self) -> Iterator[Any]:
        """Yields results that are there: all, or those whose turn it is."""
        while self._done:
            index = self._next if self.options.ordered else next(iter(self._done))
            if index not in self._done:
                return
            result = self._done.pop(index)
            self._next += 1
            yield result if self.options.ordered else (index, result)
            del result
            self._n_flying -= 1
            self._submit()

    def _wait(self) -> None:
        """Waits for the next answer of a worker, and acts on it."""
        ready, _ = ray.wait(list(self._pending), num_returns=1, timeout=1.0) if self._pending else ([], [])
        for reference in ready:
            asked = self._pending[reference]
            try:
                answer = ray.get(reference)
            except Exception as error:
                self._failed(asked, error)
            else:
                del self._pending[reference]
                asked.then(asked, answer)
        if ready or any(member.ready for member in self._members):
            self._progressed = time.monotonic()
        elif time.monotonic() - self._progressed > self.options.start_seconds_max:
            raise chipdock.Unavailable(self._why_none())

    def _failed(self, asked: _Asked, error: Exception) -> None:
        """Raises a mistake of the caller as what it is; what was lost is computed again."""
        cause = error.cause if isinstance(error, lost.RayTaskError) and isinstance(error.cause, BaseException) else error
        if isinstance(cause, LOST):
            self._lost(asked.member, cause)
            return
        if asked.block is not None and asked.member.place is not None:
            _note(cause, f"block {asked.block.index}, on node {asked.member.place.node}")
        raise cause from None

    def _why_none(self) -> str:
        asked = self._request(self._members[0])
        wanted = {**asked["resources"], "CPU": asked["num_cpus"]}
        nodes = [{key: node["Resources"].get(key, 0) for key in wanted} for node in _resources.nodes()]
        unfit = "".join(f"; target {target} is not on some: {_reasons(why)}" for target, why in self._unfit.items())
        return (
            f"no worker could start in {self.options.start_seconds_max:.0f} s: each asks for {wanted}, and the nodes have {nodes}{unfit}; "
            "start nodes with these resources, or ask for fewer workers or threads"
        )

    def _stop(self) -> None:
        if isinstance(self._show, Bar):
            self._show.close()
        if ray.is_initialized():
            for member in self._members:
                if member.actor is not None:
                    ray.kill(member.actor)
            # What the killed workers had still to answer fails at once.
            self._forget(list(self._pending), seconds_max=1.0)
        self._members.clear()
        self._done.clear()

    def _forget(self, references: list[Any], seconds_max: float = 0.0) -> None:
        """Drops answers. Errors among them are looked at, or Ray prints them as unhandled."""
        n_answers = len(references)
        answered, _ = ray.wait(references, num_returns=n_answers, timeout=seconds_max, fetch_local=False) if references else ([], [])
        for reference in answered:
            with contextlib.suppress(Exception):
                ray.get(reference, timeout=0)
        for reference in references:
            del self._pending[reference]


def _sent(array: Any) -> Any:
    """What a call is given of an array."""
    return array if array.nbytes <= INLINE_BYTES_MAX else ray.put(array)


def _reasons(unfit: Mapping[str, str]) -> str:
    n_nodes = Counter(unfit.values())
    return "; ".join(f"{reason} ({count} nodes)" for reason, count in n_nodes.items())


def _note(error: BaseException, text: str) -> None:
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(text)
