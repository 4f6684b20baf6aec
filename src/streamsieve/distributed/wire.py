"""What was learned as bytes, in the format of model files, and back: nothing that is decoded is executed."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..persist.encode import Decoder, Encoder
from ..persist.files import STATE, CheckpointError, read_tensors, tensor_bytes
from ..sources.examples import Examples
from ..training.model import Model
from .parts import fresh

Piece = dict[str, Any]  # kind, first, last, bad, and where it has them: model, rows, examples


def encode(about: dict[str, Any], pieces: Sequence[Piece]) -> bytes:
    """Notes (plain data) and pieces as bytes."""
    from .. import __version__

    encoder = Encoder()
    tree = {"about": about, "pieces": [_encode_piece(piece, encoder) for piece in pieces]}
    text = np.frombuffer(json.dumps(tree, allow_nan=False).encode(), dtype=np.uint8)
    tensors = sorted(((str(i), a) for i, a in enumerate(encoder.tensors)), key=lambda item: -item[1].itemsize)
    return b"".join(tensor_bytes([*tensors, (STATE, text)], "Partial", __version__))


def decode(like: Model, data: bytes | memoryview) -> tuple[dict[str, Any], list[Piece]]:
    """What `encode` wrote of models that learn as `like` does; CheckpointError for anything else."""
    try:
        tensors = read_tensors(io.BytesIO(data), len(data))
        tree = json.loads(bytes(tensors.pop(STATE)))
        decoder = Decoder(tensors)
        return dict(tree["about"]), [_decode_piece(like, node, decoder) for node in tree["pieces"]]
    except CheckpointError:
        raise
    except Exception as error:  # whatever forged bytes make plain code raise
        raise CheckpointError(f"they do not fit together ({type(error).__name__}: {error})") from error


def _encode_piece(piece: Piece, encoder: Encoder) -> Piece:
    node = dict(piece)
    if "model" in node:
        node["model"] = _encode_model(node["model"], encoder)
    if "examples" in node:
        node["examples"] = [encoder(list(each), "examples") for each in node["examples"]]
    return node


def _decode_piece(like: Model, node: Piece, decoder: Decoder) -> Piece:
    piece = {
        name: value if name == "kind" else int(value) for name, value in node.items() if name not in _PARTS
    }
    if "model" in node:
        piece["model"] = _decode_model(like, node["model"], decoder)
    if "examples" in node:
        piece["examples"] = [Examples(*decoder(each)) for each in node["examples"]]
    return piece


_PARTS = ("model", "examples")
_STAGES = ("prepare", "refitted")


def _encode_model(model: Model, encoder: Encoder) -> dict[str, Any]:
    """What rows have changed of it; the rest is the task's."""
    method = model.method
    names = None if model.feature_names is None else list(model.feature_names)
    return {
        "p": method.p, "q": method.q, "names": encoder(names, "names"),
        "state": encoder(method.state, "state"), "sparse": bool(getattr(method, "sparse", False)),
        **{name: encoder(getattr(model, name), name) for name in _STAGES},
    }  # fmt: skip


def _decode_model(like: Model, node: dict[str, Any], decoder: Decoder) -> Model:
    model = fresh(like)
    method: Any = copy.copy(model.method)
    method.p, method.q, method.state = int(node["p"]), int(node["q"]), decoder(node["state"])
    if hasattr(method, "sparse"):
        method.sparse = bool(node["sparse"])
    model.method = method
    model.feature_names = decoder(node["names"])
    for name in _STAGES:
        setattr(model, name, decoder(node[name]))
    model.verify_state()
    return model
