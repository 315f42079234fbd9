"""Trains the small network of digits.py with numpy and writes its data and weights as .npy files.

Run again with `pip install numpy scikit-learn` and `python examples/digits/train.py` (about ten
seconds). The seed is fixed; another build of numpy may still change the last bits of a weight.
The test images are only scored, after the last epoch.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
N_TRAIN = 1347  # the first 1,347 images train, the last 450 test
EPOCHS, BATCH, RATE, DECAY = 80, 32, 2e-3, 1e-4
DROP_POOLED, DROP_HIDDEN = 0.2, 0.4
rng = np.random.default_rng(2026)


def patches(images):
    """The 3 x 3 neighbourhood of every pixel, zeros outside: [n, 8, 8] -> [n, 8, 8, 9]."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2)).reshape(*images.shape, 9)


def keep_all(values, _rate):
    """No dropout: what the network does once it is trained."""
    return values


def drop(values, rate):
    """Dropout: zeroes a share of the values and scales up the others."""
    return values * (rng.random(values.shape) >= rate).astype("float32") / np.float32(1 - rate)


def forward(p, images, dropout=keep_all):
    """Every layer's output, `windows` being the features in groups of 2 x 2."""
    n = len(images)
    x = patches(images)
    features = np.einsum("nhwk,ck->nchw", x, p["conv_w"].reshape(16, 9), optimize=True)
    features = np.maximum(features + p["conv_b"][:, None, None], 0)
    windows = features.reshape(n, 16, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, 16, 4, 4, 4)
    pooled = dropout(windows.max(-1).reshape(n, 256), DROP_POOLED)
    hidden = dropout(np.maximum(pooled @ p["dense1_w"] + p["dense1_b"], 0), DROP_HIDDEN)
    logits = hidden @ p["dense2_w"] + p["dense2_b"]
    e = np.exp(logits - logits.max(1, keepdims=True))
    return x, features, windows, pooled, hidden, e / e.sum(1, keepdims=True)


def gradients(p, images, labels):
    """Cross-entropy's gradient for each weight."""
    n = len(images)
    x, features, windows, pooled, hidden, probabilities = forward(p, images, drop)
    d_logits = (probabilities - np.eye(10, dtype="float32")[labels]) / n
    d_hidden = d_logits @ p["dense2_w"].T * (hidden > 0) / (1 - DROP_HIDDEN)
    d_pooled = d_hidden @ p["dense1_w"].T * (pooled > 0) / (1 - DROP_POOLED)
    first_max = np.arange(4) == windows.argmax(-1)[..., None]
    d_windows = (d_pooled.reshape(n, 16, 4, 4, 1) * first_max).reshape(n, 16, 4, 4, 2, 2)
    d_features = d_windows.transpose(0, 1, 2, 4, 3, 5).reshape(n, 16, 8, 8) * (features > 0)
    return {
        "conv_w": np.einsum("nchw,nhwk->ck", d_features, x, optimize=True).reshape(16, 3, 3),
        "conv_b": d_features.sum((0, 2, 3)),
        "dense1_w": pooled.T @ d_hidden,
        "dense1_b": d_hidden.sum(0),
        "dense2_w": hidden.T @ d_logits,
        "dense2_b": d_logits.sum(0),
    }


def shifted(images):
    """A third of the images moved by at most one pixel each way, so that the network learns to bear it."""
    out = images.copy()
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    for i in np.flatnonzero(rng.random(len(images)) < 1 / 3):
        dy, dx = rng.integers(0, 3, 2)
        out[i] = padded[i, dy : dy + 8, dx : dx + 8]
    return out


def train(images, labels):
    """Adam with decoupled weight decay; the rate falls to zero along a cosine."""

    def normal(*shape, fan_in):
        return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype("float32")

    p = {
        "conv_w": normal(16, 3, 3, fan_in=9),
        "conv_b": np.zeros(16, "float32"),
        "dense1_w": normal(256, 64, fan_in=256),
        "dense1_b": np.zeros(64, "float32"),
        "dense2_w": normal(64, 10, fan_in=64),
        "dense2_b": np.zeros(10, "float32"),
    }
    mean = {k: np.zeros_like(w) for k, w in p.items()}
    square = {k: np.zeros_like(w) for k, w in p.items()}
    step, steps = 0, EPOCHS * -(-len(images) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for at in range(0, len(images), BATCH):
            pick = order[at : at + BATCH]
            grads = gradients(p, shifted(images[pick]), labels[pick])
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k, g in grads.items():
                mean[k] = 0.9 * mean[k] + 0.1 * g
                square[k] = 0.999 * square[k] + 0.001 * g * g
                move = mean[k] / (1 - 0.9**step) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
                p[k] = (p[k] - rate * (move + DECAY * p[k])).astype("float32")
    return p


def main():
    digits = load_digits()
    images, labels = digits.images.astype("uint8"), digits.target.astype("uint8")
    for part, rows in (("train", slice(None, N_TRAIN)), ("test", slice(N_TRAIN, None))):
        np.save(HERE / f"{part}_images.npy", images[rows])
        np.save(HERE / f"{part}_labels.npy", labels[rows])
    pixels = images.astype("float32") / 16
    p = train(pixels[:N_TRAIN], labels[:N_TRAIN])
    for name, weights in p.items():
        np.save(HERE / f"{name}.npy", weights)
    hits = forward(p, pixels[N_TRAIN:])[-1].argmax(1) == labels[N_TRAIN:]
    print(json.dumps({"images": len(hits), "correct": int(hits.sum()), "accuracy": round(float(hits.mean()), 4)}))


if __name__ == "__main__":
    main()
