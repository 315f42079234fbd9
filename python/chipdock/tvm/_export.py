"""Export and inspection of what was compiled, by TVM's own methods (TVM-8).

TVM cannot save a module that runs from memory or from a library. While it exports, each of ours is replaced by an object file,
which TVM links with its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tvm

from .._objects import Module
from ..errors import Unavailable, Unsupported
from . import _artifacts
from ._targets import CPU_KINDS

#: The methods of TVM's module class as they were.
_before: dict[str, Any] = {}
#: Held while modules are replaced: their imports change under it.
_swapping = threading.RLock()
#: TVM-FFI's name of the modules that a library has embedded.
_LIBRARY = b"_lib"


def _tool(*names: str) -> str:
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    raise Unavailable(f"chipdock.tvm: export needs one of {', '.join(names)}; install a C compiler with binutils (gcc on Debian)")


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"chipdock.tvm: the export failed: {' '.join(command)}\n{done.stderr[-4000:]}")


#: Gives a function that takes TVM-FFI's packed arguments as its own parameters the calling convention of TVM-FFI.
_ENTRY = """
extern int32_t inner_{at}(void *, const ChipdockAny *, int32_t, ChipdockAny *) __asm__("chipdock_lowered_{name}");
EXPORTED int32_t outer_{at}(void *, const ChipdockAny *, int32_t, ChipdockAny *) __asm__("chipdock_outer_{name}");
int32_t outer_{at}(void *self, const ChipdockAny *args, int32_t num_args, ChipdockAny *result) {{
    ChipdockAny packed[4] = {{0}}, status = {{0}};
    void *const pointers[] = {{self, (void *)args, 0, result}};
    for (int at = 0; at < 4; ++at) {{
        packed[at].type_index = pointers[at] ? CHIPDOCK_TYPE_OPAQUE_PTR : CHIPDOCK_TYPE_NONE;
        packed[at].value.v_ptr = pointers[at];
    }}
    packed[2].type_index = CHIPDOCK_TYPE_INT;
    packed[2].value.v_int64 = num_args;
    const int32_t failed = inner_{at}(self, packed, 4, &status);
    return failed ? failed : (int32_t)status.value.v_int64;
}}
"""


#: Workspace of devices is TVM's, which has them where the library runs; the run time of a library alone has none.
_WORKSPACE = """
static ChipdockEnv with_workspace;
static int32_t (*free_of_host)(const ChipdockEnv *, int32_t, int32_t, void *);
static void *(*allocate_of_host)(const ChipdockEnv *, int32_t, int32_t, uint64_t);
static void *allocate_of_tvm(const ChipdockEnv *env, int32_t device_type, int32_t device_id, uint64_t size_bytes) {
    void *(*allocate)(int, int, uint64_t, int, int) = dlsym(RTLD_DEFAULT, "TVMBackendAllocWorkspace");
    if (device_type == CHIPDOCK_DEVICE_CPU || !allocate) return allocate_of_host(env, device_type, device_id, size_bytes);
    void *data = allocate(device_type, device_id, size_bytes, 1, 8);
    if (!data) env->raise(env, "Unavailable", "TVM has no workspace of the device: call chipdock.tvm.register_devices", 0);
    return data;
}
static int32_t free_of_tvm(const ChipdockEnv *env, int32_t device_type, int32_t device_id, void *data) {
    int (*release)(int, int, void *) = dlsym(RTLD_DEFAULT, "TVMBackendFreeWorkspace");
    if (device_type == CHIPDOCK_DEVICE_CPU || !release) return free_of_host(env, device_type, device_id, data);
    return release(device_type, device_id, data);
}
__attribute__((constructor)) static void take_workspace_of_tvm(void) {
    with_workspace = *__chipdock_env;
    allocate_of_host = with_workspace.allocate_workspace;
    free_of_host = with_workspace.free_workspace;
    with_workspace.allocate_workspace = allocate_of_tvm;
    with_workspace.free_workspace = free_of_tvm;
    __chipdock_env = &with_workspace;
}
"""


def _object(compiled: Module, entries: Sequence[str], folder: Path) -> Path:
    """Writes a module of ours as one object file whose only symbols are those that TVM-FFI asks for."""
    archive = folder / "module.tar"
    compiled.export(archive)
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                (folder / os.path.basename(member.name)).write_bytes(content.read())
    with open(folder / "library.c", "a", encoding="utf-8") as file:
        file.writelines(_ENTRY.format(at=at, name=name) for at, name in enumerate(entries))
        if (folder / "modules.bin").is_file():
            file.write(_WORKSPACE)
    compiler, objcopy = _tool(os.environ.get("CC", "cc"), "gcc", "clang"), _tool("objcopy")
    _run([compiler, "-c", "-fPIC", "-O2", "-std=gnu11", "-fvisibility=hidden", "-w", "library.c", "-o", "library.o"], folder)
    if entries:
        # The library has them where it checks what the code needs of the processor, else the object.
        inner = [f"--redefine-sym=__tvm_ffi_{name}=chipdock_lowered_{name}" for name in entries]
        for part in ("library.o", "kernels.o"):
            _run([objcopy, *inner, part], folder)
        _run([objcopy, *(f"--redefine-sym=chipdock_outer_{name}=__tvm_ffi_{name}" for name in entries), "library.o"], folder)
    _run([_tool("ld"), "-r", "library.o", "kernels.o", "-o", "joined.o"], folder)
    local = ["__chipdock_env", "__chipdock_library", "__tvm_ffi__library_bin", *(f"chipdock_lowered_{name}" for name in entries)]
    # Those behind the check of the processor, and what it asks: TVM links several modules of ours.
    local += ["__tvm_cpu_*", "__chipdock_needs"]
    # What these say is of the four parameters.
    local += [f"__tvm_ffi__{what}_{name}" for what in ("metadata", "doc") for name in entries]
    # TVM's own object may have the same; the loader sets one.
    weak = ["__tvm_ffi__library_ctx", "__tvm_ffi_main"]
    flags = [f"--localize-symbol={name}" for name in local] + [f"--weaken-symbol={name}" for name in weak]
    _run([objcopy, "--wildcard", "--localize-hidden", *flags, "joined.o", "module.o"], folder)
    return folder / "module.o"


def linked(compiled: Module, entries: Sequence[str], folder: Path) -> Path:
    """Writes functions that arrived lowered as a library."""
    compiler = _tool(os.environ.get("CC", "cc"), "gcc", "clang")
    _run([compiler, "-shared", str(_object(compiled, entries, folder)), "-o", "module.so", "-lm", "-ldl", "-lpthread"], folder)
    return folder / "module.so"


class _Tree:
    """TVM-FFI's tree of the modules in a library: rows of children (CSR), and kinds with their bytes."""

    def __init__(self, blob: bytes) -> None:
        self._at, self._blob = 8, blob
        self.rows, self.children = self._numbers(), self._numbers()
        self.modules: list[tuple[bytes, bytes]] = []
        while self._at < len(blob):
            kind = self._bytes()
            self.modules.append((kind, b"" if kind == _LIBRARY else self._bytes()))

    def _number(self) -> int:
        (found,) = struct.unpack_from("<Q", self._blob, self._at)
        self._at += 8
        return int(found)

    def _numbers(self) -> list[int]:
        return [self._number() for _ in range(self._number())]

    def _bytes(self) -> bytes:
        size = self._number()
        self._at += size
        return self._blob[self._at - size : self._at]

    def embed(self, kind: bytes, data: bytes) -> None:
        """Adds a module that the library imports."""
        library = [one for one, _ in self.modules].index(_LIBRARY)
        self.children.insert(self.rows[library + 1], len(self.modules))
        self.rows = [*self.rows[: library + 1], *(row + 1 for row in self.rows[library + 1 :])]
        self.rows.append(self.rows[-1])
        self.modules.append((kind, data))

    def to_bytes(self) -> bytes:
        parts = []
        for numbers in (self.rows, self.children):
            parts.append(struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers))
        for kind, data in self.modules:
            parts.append(struct.pack("<Q", len(kind)) + kind)
            if kind != _LIBRARY:
                parts.append(struct.pack("<Q", len(data)) + data)
        body = b"".join(parts)
        return struct.pack("<Q", len(body)) + body


def _write_tree(blob: bytes, embedded: list[tuple[bytes, bytes]], workspace: str, prefix: str) -> str:
    """Writes a library's tree with our device code added, as a source that TVM links; returns its path."""
    tree = _Tree(blob)
    for kind, data in embedded:
        tree.embed(kind, data)
    binary, source = (os.path.join(workspace, f"{prefix}devc.{ending}") for ending in ("bin", "c"))
    Path(binary).write_bytes(tree.to_bytes())
    lines = [
        '.pushsection .rodata.__tvm_ffi__library_bin,\\"a\\"', ".balign 16", ".globl __tvm_ffi__library_bin",
        ".type __tvm_ffi__library_bin,%object", "__tvm_ffi__library_bin:", f'.incbin \\"{binary}\\"',
        ".size __tvm_ffi__library_bin, .-__tvm_ffi__library_bin", ".popsection",
    ]
    Path(source).write_text("__asm__(" + "".join(f'"{line}\\n"' for line in lines) + ");\n", encoding="utf-8")
    return source


#: The tree of a library that imports nothing.
_ALONE = struct.pack("<6Q", 44, 2, 0, 0, 0, len(_LIBRARY)) + _LIBRARY


def _packer(embedded: list[tuple[bytes, bytes]]) -> Callable[[Any, bool, str, str], str]:
    """Returns what TVM calls to write the tree of a library: its own, with our device code added."""

    def pack(root: Any, _system: bool, prefix: str, workspace: str) -> str:
        text = str(tvm.runtime._ffi_api.ModulePackImportsToC(root, False, prefix))
        start = text.index("{", text.index("__tvm_ffi__library_bin")) + 1
        numbers = text[start : text.index("}", start)]
        blob = bytes(int(number, 16) for number in numbers.replace("\n", "").split(",") if number.strip())
        return _write_tree(blob, embedded, workspace, prefix)

    return pack


class _Replaced:
    """Object files in the place of our modules."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[int, Any] = {}
        #: Device code of ours, which the library embeds.
        self.embedded: list[tuple[bytes, bytes]] = []

    def of(self, module: Any) -> Any:
        made = _artifacts.made_of(module)
        if made is None:
            return module
        address = _artifacts.address(module)
        if address not in self._made:
            folder = self._folder / str(len(self._made))
            folder.mkdir()
            path = _object(made.compiled, made.lowered, folder)
            tree = folder / "modules.bin"
            if tree.is_file():
                self.embedded += [one for one in _Tree(tree.read_bytes()).modules if one[0] != _LIBRARY]
            self._made[address] = tvm.runtime.load_static_library(str(path), made.compiled.functions())
        return self._made[address]


@contextlib.contextmanager
def _swapped(root: Any, replaced: _Replaced) -> Iterator[Any]:
    """Gives a module with object files in the place of ours, and puts its imports back afterwards."""
    changed: list[tuple[Any, list[Any]]] = []
    with _swapping:
        try:
            for module in list(_artifacts.tree(root)):
                imports = list(module.imports)
                if any(_artifacts.made_of(one) is not None for one in imports):
                    changed.append((module, imports))
                    module.clear_imports()
                    for one in imports:
                        module.import_module(replaced.of(one))
            new = replaced.of(root)
            if new is not root:
                for one in root.imports:
                    new.import_module(one)
            yield new
        finally:
            for module, imports in changed:
                module.clear_imports()
                for one in imports:
                    module.import_module(one)


def _export_library(self: Any, file_name: Any, **options: Any) -> Any:
    before = _before["export_library"]
    if not any(_artifacts.made_of(one) is not None for one in _artifacts.tree(self)):
        return before(self, file_name, **options)
    made = _artifacts.made_of(self)
    given = {key for key, value in options.items() if value is not None} - {"workspace_dir"}
    alone = made is not None and not made.lowered and not self.imports and made.compiled.target["kind"] in CPU_KINDS
    if made is not None and alone and not given and os.fspath(file_name).endswith(".so"):
        return made.compiled.export(file_name)
    with tempfile.TemporaryDirectory(prefix="chipdock-tvm-") as folder:
        replaced = _Replaced(Path(folder))
        with _swapped(self, replaced) as root:
            if replaced.embedded:
                if options.get("fpack_imports") is not None:
                    raise Unsupported("chipdock.tvm: fpack_imports: expected none, as device code of Chipdock is packed here")
                if options.get("workspace_dir") is None:
                    options["workspace_dir"] = folder
                if root.imports:
                    options["fpack_imports"] = _packer(replaced.embedded)
                else:
                    source = _write_tree(_ALONE, replaced.embedded, options["workspace_dir"], "")
                    options["addons"] = [*(options.get("addons") or ()), source]
            return before(root, file_name, **options)


def _inspect_source(self: Any, fmt: str = "") -> str:
    made = _artifacts.made_of(self)
    if made is None:
        return str(_before["inspect_source"](self, fmt))
    compiled = made.compiled
    found = {"": compiled.source, "tir": compiled.lowered}.get(fmt, lambda: compiled.source(fmt))()
    # A code generator of objects has no source unless it was told to keep one.
    return found or (compiled.lowered() if fmt == "" else "") or ""


_METHODS = {"export_library": _export_library, "inspect_source": _inspect_source}


def register() -> None:
    """Lets TVM's methods take our modules."""
    for name, method in _METHODS.items():
        if name not in _before:
            _before[name] = getattr(tvm.runtime.Module, name)
            setattr(tvm.runtime.Module, name, method)


def unregister() -> None:
    """Puts TVM's methods back."""
    for name in list(_before):
        before = _before.pop(name)
        # What the base class has is inherited again.
        if getattr(tvm.runtime.Module.__base__, name, None) is before:
            delattr(tvm.runtime.Module, name)
        else:
            setattr(tvm.runtime.Module, name, before)
