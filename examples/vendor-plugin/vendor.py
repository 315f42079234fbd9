# %% [markdown]
# # A vendor's plugin, from Python
#
# A vendor ships a chip and one shared library. Dropped into a folder, it is all that Chipdock needs to list the chip, put arrays on
# it, compile kernels for it and run them. Here the vendor's library is the template in C with its code generator, and the chip is a
# small machine in software.
#
# Needs `chipdock`, `numpy`, a C compiler and `make`.

# %%
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import chipdock

HERE = Path(globals().get("__file__", "vendor.ipynb")).resolve().parent
folder = Path(tempfile.mkdtemp())


def run(*command):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


# %% [markdown]
# ## What the vendor does
# Compile, then write the manifest: what the plugin provides, read from its own registrations. With it the host knows that without
# opening the library.

# %%
run("make", "-C", HERE, f"OUT={folder}")
run(sys.executable, "-m", "chipdock", "manifest", folder / "chip.so")
print(", ".join(sorted(one.name for one in folder.iterdir())))

# %% [markdown]
# ## What the user does
# Name the folder. (`CHIPDOCK_PLUGIN_PATH` does the same without a line of code.) Somebody left a file there that is no library, and
# an old copy of the plugin. One of the plugin's settings is given as well.

# %%
(folder / "notes.so").write_text("not a library\n")
shutil.copy(folder / "chip.so", folder / "old.so")
chipdock.host(plugin_paths=[folder], settings={"template-c": {"axes-max": "2"}})
print(*chipdock.devices())

# %% [markdown]
# Every file that was met is accounted for. Libraries without a manifest are opened only when something is looked for that no
# manifest has, such as a device that nobody provides.

# %%
try:
    chipdock.device("vendor_npu")
except chipdock.Unavailable as error:
    print(f"{type(error).__name__}: {error}\n")
for plugin in chipdock.plugins():
    if Path(plugin["library"]).parent == folder:
        what = ", ".join(plugin["provides"]) if plugin["state"] == "opened" else f"{plugin['reason']}: {plugin['message']}"
        print(f"{Path(plugin['library']).name:<9} {plugin['state']:<7} {what.replace(str(folder), '.')}")

# %% [markdown]
# ## The device
# Its name is all that is needed, for arrays as for kernels.

# %%
print(chipdock.attribute("template_c", "device_name"))
there = chipdock.to_device(np.arange(6, dtype=np.float32).reshape(2, 3), "template_c")
print(chipdock.device_name(there.device), chipdock.numpy(there).tolist())

# %% [markdown]
# A kernel of everybody's, compiled by the vendor's code generator.

# %%
KERNELS = HERE.parent / "kernels"
softmax = chipdock.compile(KERNELS / "softmax.py", "template_c").softmax
x = np.random.default_rng(1).random((4, 6), np.float32)
found = chipdock.numpy(softmax(chipdock.to_device(x, "template_c")))
expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
assert np.allclose(found, expected, atol=1e-6)
print(f"softmax differs from numpy's by {abs(found - expected).max():.1g} at most")

# %% [markdown]
# What the chip cannot do is said by its code generator, with the line of the kernel.

# %%
try:
    chipdock.compile(KERNELS / "cast_f16.py", "template_c")
except chipdock.Unsupported as error:
    print("\n".join(str(error).replace(str(KERNELS), "kernels").splitlines()[:4]))
else:
    raise AssertionError("the chip has no float16")

# %% [markdown]
# ## More than devices
# Plugins may register plain functions. This one counts elements, and obeys the setting that was given above.

# %%
count = chipdock.function("template_c.element_count")
print(count(np.zeros((3, 4))))
try:
    count(np.zeros((3, 4, 5)))
except ValueError as error:
    print(f"ValueError: {error}")
else:
    raise AssertionError("the setting allows two axes")

# %%
shutil.rmtree(folder)
