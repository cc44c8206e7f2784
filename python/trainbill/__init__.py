"""Marks of a training run, for `trainbill exec`.

A run that `trainbill exec` started says here what only it knows: which phase it is in, which checkpoints are written, how
good it is. Each call adds one line to the file that the variable `TRAINBILL_MARKS` names. Without that variable nothing
happens, and nothing that goes wrong here ever reaches the training. In a job of several processes one of them should mark.

    import trainbill

    trainbill.phase("train")
    trainbill.metric("val_acc", 0.781, step=4000, split="val")
    trainbill.checkpoint("s3://ckpt/vitl/4000", step=4000, size=5368709120)
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import SupportsFloat, SupportsInt

__all__ = ["checkpoint", "metric", "phase"]

_LOG = logging.getLogger(__name__)

_WHOLE = ("step", "bytes")


def phase(kind: str) -> None:
    """Begins a phase: `data_load`, `init`, `train`, `eval`, `ckpt_save`, `ckpt_restore`, `upload`, `idle` and so on."""
    _mark("phase", kind, {})


def metric(
    name: str,
    value: SupportsFloat,
    *,
    step: SupportsInt | None = None,
    split: str | None = None,
    direction: str | None = None,
    protocol: str | None = None,
    final: bool | None = None,
) -> None:
    """Tells a value of a metric; `direction` is `maximise` or `minimise`, `protocol` the name of the rule of measuring."""
    words = {"step": step, "split": split, "direction": direction, "protocol": protocol, "final": final}
    _mark("metric", name, words, value)


def checkpoint(
    uri: str | None = None,
    *,
    step: SupportsInt | None = None,
    size: SupportsInt | None = None,
    started: datetime | None = None,
    durable: bool | None = None,
) -> None:
    """Tells of a checkpoint that is wholly written by now; `size` is in bytes, `started` is when writing began.

    It counts as durable, that is, as surviving the node, if its URI is that of a remote store, or if `durable` says so.
    """
    words = {"step": step, "uri": uri, "bytes": size, "started": started, "durable": durable}
    _mark("checkpoint", None, words)


def _mark(kind: str, first: str | None, words: Mapping[str, object], value: SupportsFloat | None = None) -> None:
    """Adds a line; whatever goes wrong is told to the log of this module and to nobody else."""
    try:
        path = os.environ.get("TRAINBILL_MARKS")
        if not path:
            return
        line = [_time(datetime.now(timezone.utc)), kind]
        if first is not None:
            # A name ends at the sign that sets it apart from its value.
            word = _word(first)
            line.append(word if value is None else f"{word.replace('=', '_')}={float(value)!r}")
        for name, told in words.items():
            if told is not None:
                # Steps come as numbers of other libraries too, whose text is no number.
                told = int(told) if name in _WHOLE and isinstance(told, SupportsInt) else told
                line.append(f"{name}={_word(told)}")
        _append(path, " ".join(line) + "\n")
    except Exception:
        _LOG.debug("a mark could not be left", exc_info=True)


def _append(path: str, line: str) -> None:
    # One write at the end of the file: lines of several processes and threads do not mix.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        os.write(file, line.encode("utf-8", "replace"))
    finally:
        os.close(file)


def _time(at: datetime) -> str:
    """RFC 3339 in UTC; a time without zone is local, as everywhere in `datetime`."""
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _word(told: object) -> str:
    """The text of a value without the blanks that would end it."""
    if isinstance(told, bool):
        return "true" if told else "false"
    if isinstance(told, datetime):
        return _time(told)
    return "_".join(str(told).split())
