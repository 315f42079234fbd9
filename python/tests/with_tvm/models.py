"""Four models of Relax, with seeded parameters, that `chipdock.tvm` is checked with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op


class Mlp(nn.Module):
    """Three dense layers."""

    shapes = {"x": (4, 64)}

    def __init__(self) -> None:
        self.layers = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 10)])

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for layer in list(self.layers)[:-1]:
            x = op.relu(layer(x))
        return op.softmax(self.layers[-1](x), axis=-1)


class Cnn(nn.Module):
    """Convolutions, a norm and a dense layer."""

    shapes = {"x": (1, 3, 16, 16)}

    def __init__(self) -> None:
        self.first, self.second = nn.Conv2D(3, 8, 3, padding=1), nn.Conv2D(8, 16, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.last = nn.Linear(16 * 8 * 8, 10)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = op.relu(self.first(x))
        x = op.silu(self.norm(self.second(x), channel_axis=1, axes=[2, 3]))
        return self.last(op.reshape(x, (1, 16 * 8 * 8)))


class TransformerBlock(nn.Module):
    """Attention of four heads and a feed-forward layer, each with a norm before it and a residual."""

    shapes = {"x": (1, 16, 64)}

    def __init__(self, width: int = 64, heads: int = 4) -> None:
        self.width, self.heads = width, heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.before_attention, self.before_feed = nn.LayerNorm(width), nn.LayerNorm(width)

    def attention(self, x: nn.Tensor) -> nn.Tensor:
        length, head = x.shape[1], self.width // self.heads
        query, key, value = (
            op.permute_dims(op.reshape(part, (1, length, self.heads, head)), (0, 2, 1, 3)) for part in op.split(self.qkv(x), 3, axis=-1)
        )
        scores = op.matmul(query, op.permute_dims(key, (0, 1, 3, 2))) * (1 / math.sqrt(head))
        mixed = op.matmul(op.softmax(scores, axis=-1), value)
        return self.out(op.reshape(op.permute_dims(mixed, (0, 2, 1, 3)), (1, length, self.width)))

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = x + self.attention(self.before_attention(x))
        return x + self.down(op.gelu(self.up(self.before_feed(x))))


class Gru(nn.Module):
    """A step of a gated recurrent unit."""

    shapes = {"x": (2, 24), "h": (2, 32)}

    def __init__(self) -> None:
        self.of_input, self.of_state = nn.Linear(24, 96), nn.Linear(32, 96)

    def forward(self, x: nn.Tensor, h: nn.Tensor) -> nn.Tensor:
        reset_in, update_in, new_in = op.split(self.of_input(x), 3, axis=-1)
        reset_state, update_state, new_state = op.split(self.of_state(h), 3, axis=-1)
        reset, update = op.sigmoid(reset_in + reset_state), op.sigmoid(update_in + update_state)
        new = op.tanh(new_in + reset * new_state)
        return new + update * (h - new)


MODELS: dict[str, Callable[[], Any]] = {"mlp": Mlp, "cnn": Cnn, "transformer_block": TransformerBlock, "gru": Gru}


def model(name: str) -> tuple[tvm.IRModule, list[Any]]:
    """Returns the module of a model, whose function is `forward`, and its inputs and parameters."""
    made = MODELS[name]()
    module, parameters = made.export_tvm({"forward": {key: nn.spec.Tensor(shape, "float32") for key, shape in made.shapes.items()}})
    rng = np.random.default_rng(7)
    shapes = [*made.shapes.values(), *(tuple(int(extent) for extent in one.shape) for _, one in parameters)]
    return module, [rng.standard_normal(shape).astype("float32") * np.float32(0.3) for shape in shapes]
