"""Puts together what a wheel is built from: the package with the library, the command, the plugins and the licences of all that is
linked into them.

usage: stage.py BUILT OUT [CARGO]

BUILT is the folder with `chipdock`, `libchipdock.so` and `plugins`; OUT is replaced.
"""

import json
import platform
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent
ROOT = PYTHON.parent
#: Packages of which files of the wheel are made.
MADE_OF = re.compile(r"chipdock-(cli|ffi|plugin-.*)")


def glibc_floor(files: list[Path]) -> tuple[int, int]:
    """The newest version of a symbol of glibc that one of the files asks for."""
    found = {(2, 17)}
    for file in files:
        said = subprocess.run(["readelf", "-W", "--version-info", file], capture_output=True, text=True, check=True)
        found |= {(int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", said.stdout)}
    return max(found)


def linked(cargo: str) -> list[dict]:
    """The packages of others that are linked into what the wheel has."""
    said = subprocess.run(
        [cargo, "metadata", "--format-version", "1", "--locked"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    metadata = json.loads(said.stdout)
    packages = {one["id"]: one for one in metadata["packages"]}
    nodes = {one["id"]: one for one in metadata["resolve"]["nodes"]}
    plugins = {path.name for path in (ROOT / "plugins").iterdir()}
    waiting = [
        one["id"] for one in packages.values()
        if MADE_OF.fullmatch(one["name"]) and (not one["name"].startswith("chipdock-plugin-") or one["name"][16:] in plugins)
    ]
    seen: set[str] = set()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        for dependency in nodes[at]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return sorted((packages[at] for at in seen if packages[at]["source"]), key=lambda one: (one["name"], one["version"]))


def licences(packages: list[dict]) -> str:
    """The texts of their licences, equal ones once."""
    texts: dict[str, list[str]] = {}
    for package in packages:
        folder = Path(package["manifest_path"]).parent
        files = [path for path in sorted(folder.iterdir()) if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", path.name)]
        name = f"{package['name']} {package['version']} ({package['license'] or 'see its text'})"
        for text in [path.read_text(errors="replace").strip() for path in files if path.is_file()] or ["(no text in its package)"]:
            texts.setdefault(text, []).append(name)
    parts = ["What is linked into the files of this package, with its licences.\n"]
    for text, names in texts.items():
        parts.append("=" * 80 + "\n" + "\n".join(sorted(set(names))) + "\n" + "-" * 80 + f"\n{text}\n")
    return "\n".join(parts)


def main() -> None:
    built, out = Path(sys.argv[1]), Path(sys.argv[2])
    cargo = sys.argv[3] if len(sys.argv) > 3 else "cargo"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "hatch_build.py"):
        shutil.copy(PYTHON / name, out / name)
    shutil.copy(ROOT / "LICENSE", out / "LICENSE")
    shutil.copytree(PYTHON / "chipdock", out / "chipdock", ignore=shutil.ignore_patterns("__pycache__", "_native"))
    native = out / "chipdock" / "_native"
    (native / "plugins").mkdir(parents=True)
    for name in ("chipdock", "libchipdock.so"):
        shutil.copy(built / name, native / name)
    for path in sorted((built / "plugins").iterdir()):
        if path.name.endswith((".so", ".chipdock.json", ".expectations.toml")):
            shutil.copy(path, native / "plugins" / path.name)
    binaries = [path for path in native.rglob("*") if path.is_file() and path.suffix in ("", ".so")]
    for path in binaries:
        # Debug information of the standard library is most of a file. A plugin is left as its manifest's digest has it.
        if path.parent == native:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
        path.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    major, minor = glibc_floor(binaries)
    (native / "TAG").write_text(f"manylinux_{major}_{minor}_{platform.machine()}\n")
    (native / "THIRD-PARTY-LICENSES.txt").write_text(licences(linked(cargo)))
    print(out)


if __name__ == "__main__":
    main()
