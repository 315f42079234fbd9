# %% [markdown]
# # Reading handwritten digits, from Python
#
# The network of this folder (`digits.py` holds a kernel per layer, `*.npy` its weights) reads 450 images that it has never seen.
# Its kernels are compiled here for every kind of processor that is found, run on it, and have to agree.
#
# Needs `chipdock` and `numpy`; with `matplotlib` there are pictures.

# %%
import sys
from pathlib import Path

import numpy as np

import chipdock

HERE = Path(globals().get("__file__", "classify.ipynb")).resolve().parent


def array(name):
    return np.load(HERE / f"{name}.npy")


images, labels = array("test_images"), array("test_labels")
weights = {name: array(name) for name in ("conv_w", "conv_b", "dense1_w", "dense1_b", "dense2_w", "dense2_b")}
print(f"{len(images)} images of {images.shape[1]} x {images.shape[2]} pixels; here are {', '.join(chipdock.devices())}")

# %% [markdown]
# ## Compile
# One module per target. The kernels take a batch of any size: `n` is bound by the call.

# %%
TARGETS = {"c": "cpu", "llvm": "cpu", "opencl": "opencl", "vulkan": "vulkan", "cuda": "cuda"}
there = {f"{name}:0" for name in TARGETS.values()} & set(chipdock.devices())
usable = {one["kind"] for one in chipdock.targets() if one["usable"]}
modules = {
    target: chipdock.compile(HERE / "digits.py", target)
    for target, device in TARGETS.items()
    if target in usable and f"{device}:0" in there
}
modules["c"]

# %% [markdown]
# ## Run
# Images and weights are copied to the device once. Each layer leaves out its last buffer, which is allocated there and
# returned, so nothing comes back before the digits do.


# %%
def classify(module, device, images):
    """Returns the digit that is read in each image, and the probability of each of the ten."""
    w = {name: chipdock.to_device(one, device) for name, one in weights.items()}
    pixels = module.normalize(chipdock.to_device(images, device))
    features = module.conv2d_relu(pixels, w["conv_w"], w["conv_b"])
    hidden = module.dense_relu(module.max_pool(features), w["dense1_w"], w["dense1_b"])
    probabilities = module.softmax(module.dense(hidden, w["dense2_w"], w["dense2_b"]))
    return chipdock.numpy(module.argmax(probabilities)), chipdock.numpy(probabilities)


answers = {target: classify(module, TARGETS[target], images) for target, module in modules.items()}
for target, (digits, _) in answers.items():
    print(f"{target:<7} {np.mean(digits == labels):7.2%} of {len(labels)} are read correctly")
digits, probabilities = answers["c"]
for target, (others, _) in answers.items():
    assert (others == digits).all(), f"{target} reads other digits than c"
assert np.mean(digits == labels) > 0.98

# %% [markdown]
# ## Look at it
# Some that are right, and all that are wrong.

# %%
wrong = np.flatnonzero(digits != labels)
print(f"wrong are {', '.join(f'{labels[at]} read as {digits[at]} ({probabilities[at, digits[at]]:.0%} sure)' for at in wrong)}")
try:
    from matplotlib import pyplot
except ImportError:
    print("no pictures: matplotlib is not installed")
else:
    shown = [*np.flatnonzero(digits == labels)[: 16 - len(wrong)], *wrong]
    figure, axes = pyplot.subplots(2, 8, figsize=(9, 2.9), layout="constrained")
    for ax, at in zip(axes.flat, shown):
        ax.imshow(images[at], cmap="gray_r")
        right = digits[at] == labels[at]
        ax.set_title(f"{digits[at]}" if right else f"{digits[at]}, is {labels[at]}", color="black" if right else "crimson")
        ax.axis("off")
    if "ipykernel" in sys.modules:
        pyplot.show()

# %% [markdown]
# ## How fast is a layer?
# `chipdock.bench` sets the time of a call beside what this machine can do.

# %%
batch = np.tile(images, (20, 1, 1))
pixels = modules["c"].normalize(batch)
chipdock.bench(modules["c"].conv2d_relu, pixels, weights["conv_w"], weights["conv_b"])
