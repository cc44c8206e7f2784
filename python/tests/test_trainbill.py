"""Marks are lines of a file, and nothing that goes wrong with them reaches the training."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

import trainbill

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"


class Marks(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "run.marks"
        variables = mock.patch.dict(os.environ, {"TRAINBILL_MARKS": str(self.path)})
        variables.start()
        self.addCleanup(variables.stop)

    def lines(self) -> list[str]:
        """The lines, each without its time, which every line has."""
        lines = self.path.read_text(encoding="utf-8").split("\n")
        self.assertEqual(lines.pop(), "", "the last line is whole")
        for line in lines:
            self.assertRegex(line, f"^{TIME} ")
        return [re.sub(f"^{TIME} ", "", line) for line in lines]

    def test_what_is_told_stands_on_a_line_and_what_is_not_told_does_not(self) -> None:
        trainbill.phase("train")
        trainbill.metric("loss", 0.5)
        trainbill.metric(
            "val_acc", 1, step=0, split="val", direction="maximise", protocol="top1-v2", final=True
        )
        trainbill.checkpoint()
        began = datetime(2026, 7, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))
        trainbill.checkpoint("s3://b/4", step=4, size=9, started=began, durable=False)
        self.assertEqual(
            self.lines(),
            [
                "phase train",
                "metric loss=0.5",
                "metric val_acc=1.0 step=0 split=val direction=maximise protocol=top1-v2 final=true",
                "checkpoint",
                "checkpoint step=4 uri=s3://b/4 bytes=9 started=2026-07-01T10:00:00.000000Z durable=false",
            ],
        )

    def test_numbers_that_are_none_and_names_with_blanks_keep_the_line_readable(self) -> None:
        trainbill.metric("a b=c\n", float("nan"))
        trainbill.metric("loss", float("-inf"), split="my\tval")
        trainbill.metric("\ud800", 1e-300)
        self.assertEqual(
            self.lines(), ["metric a_b_c=nan", "metric loss=-inf split=my_val", "metric ?=1e-300"]
        )

    def test_without_the_variable_nothing_happens(self) -> None:
        for value in [None, ""]:
            with mock.patch.dict(os.environ):
                del os.environ["TRAINBILL_MARKS"]
                if value is not None:
                    os.environ["TRAINBILL_MARKS"] = value
                with mock.patch("os.open") as opened:
                    trainbill.phase("train")
                opened.assert_not_called()
        self.assertFalse(self.path.exists())

    def test_nothing_that_goes_wrong_reaches_the_training(self) -> None:
        os.environ["TRAINBILL_MARKS"] = "/dev/null/no/such/folder"
        trainbill.phase("train")
        os.environ["TRAINBILL_MARKS"] = "/dev/full"
        trainbill.checkpoint(step=1)
        os.environ["TRAINBILL_MARKS"] = str(self.path)
        trainbill.metric("loss", "high")  # type: ignore[arg-type]
        trainbill.metric("loss", 1.0, step=[])  # type: ignore[arg-type]
        trainbill.checkpoint(started=1.5)  # type: ignore[arg-type]

        class Broken:
            def __str__(self) -> str:
                raise RuntimeError("no text")

        trainbill.phase(Broken())  # type: ignore[arg-type]
        self.assertEqual(
            self.lines(), ["metric loss=1.0 step=[]", "checkpoint started=1.5"], "the reader passes over such words"
        )

    def test_numbers_of_other_libraries_are_numbers(self) -> None:
        class Tensor:
            def __int__(self) -> int:
                return 4

            def __float__(self) -> float:
                return 0.25

            def __str__(self) -> str:
                return "tensor(4, device='cuda:0')"

        trainbill.metric("loss", Tensor(), step=Tensor())
        self.assertEqual(self.lines(), ["metric loss=0.25 step=4"])

    def test_lines_of_several_threads_do_not_mix(self) -> None:
        def many(name: str) -> None:
            for step in range(200):
                trainbill.metric(name, 1.0, step=step)

        threads = [threading.Thread(target=many, args=(name * 50,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {f"metric {name * 50}=1.0 step={step}" for name in "abcd" for step in range(200)}
        lines = self.lines()
        self.assertEqual(len(lines), 800)
        self.assertEqual(set(lines), expected)


if __name__ == "__main__":
    unittest.main()
