"""Stands in for a training: logs to MLflow with the plain client, fails in its first run and completes after a requeue.

It tells `trainbill exec`, through the file that `TRAINBILL_MARKS` names, of its phase and of a checkpoint."""
import os
import sys

import mlflow

# EX_TEMPFAIL of sysexits.h: "try again"; the cluster requeues what ends with it.
TRY_AGAIN = 75


def mark(line):
    with open(os.environ["TRAINBILL_MARKS"], "a", encoding="utf-8") as marks:
        marks.write(line + "\n")


restarts = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
mark("phase train")
with mlflow.start_run():
    mlflow.log_param("lr", "0.1")
    for step in range(1, 4):
        mlflow.log_metric("val_acc", 0.25 * step + 0.0625 * restarts, step=step)
    mark("checkpoint step=3 uri=file:///checkpoints/3 bytes=1024")
    if restarts == 0:
        sys.exit(TRY_AGAIN)
