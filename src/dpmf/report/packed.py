"""Arrays in; text that a browser turns back into numbers out."""

import base64
import json
from typing import Any

import numpy as np
from jaxtyping import Float

LEVELS = 65535  # of a number of two bytes
# Inside a script element, only these could end it or begin a comment or an entity.
UNSAFE = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def packed(values: Float[np.ndarray, "rank *rest"]) -> dict[str, Any]:
    """Two bytes a number, between the least and the greatest of each feature.

    The error is at most 1/131070 of that range.
    """
    flat = values.reshape(len(values), -1)
    low, high = flat.min(axis=1), flat.max(axis=1)
    step = np.where(high > low, (high - low) / LEVELS, 1.0)
    levels = np.round((flat - low[:, None]) / step[:, None]).astype("<u2")
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "data": base64.b64encode(levels.tobytes()).decode(),
    }


def unpacked(text: dict[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    """What the browser reads."""
    levels = np.frombuffer(base64.b64decode(text["data"]), "<u2").reshape(shape[0], -1)
    low, step = np.array(text["low"])[:, None], np.array(text["step"])[:, None]
    return (low + step * levels).reshape(shape)


def script_json(value: Any) -> str:
    """JSON that nothing inside of can end the script element around it.

    Raises:
        ValueError: A number is not finite, which JSON cannot say.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in UNSAFE.items():
        text = text.replace(character, escape)
    return text
