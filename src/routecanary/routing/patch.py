"""Which models does a request name, and may its `provider` object be touched?

An application imports this module on its request path: standard library only.

Source: policy.md §8; openrouter-wire.md §2.2 (a request's `provider` replaces a preset's whole object).
"""

from __future__ import annotations

from collections.abc import Mapping

PRESET = "preset"
BAD_REQUEST = "bad_request"


def names_preset(model: str) -> bool:
    """Say whether a model is, or carries, a stored preset: `@preset/slug`, `author/slug@preset/slug`."""
    return "@preset/" in model


def models_of(request: Mapping[str, object]) -> tuple[str, ...] | str:
    """List the models that may serve a request, the first choice first.

    Returns:
        Each model once; or the word that is counted when the request passes unchanged: `preset` when a
        preset decides its routing, `bad_request` when it names no model or `models` is not a list of names.
    """
    if request.get("preset") is not None:
        return PRESET
    model = request.get("model")
    fallbacks = request.get("models")
    if fallbacks is None:
        named = (model,)
    elif isinstance(fallbacks, (list, tuple)):
        named = (*([] if model is None else [model]), *fallbacks)
    else:
        return BAD_REQUEST
    models = []
    for name in named:
        if not isinstance(name, str) or not name:
            return BAD_REQUEST
        if names_preset(name):
            return PRESET
        models.append(name)
    return tuple(dict.fromkeys(models)) or BAD_REQUEST
