"""The event files of TensorBoard as files: what of them a run that goes on keeps."""

import os
import pathlib

import tensorflow as tf

EVENTS = "events.out.tfevents.*"
# Told anew by every process: what a run ended with, and its session for HParams.
RESTATED = ("final/", "_hparams_/")
OF_TRAINING = ("train/", "system/")  # all else at an update is of its validation


def truncate_events(path, step, validated=True):
    """Rewrites an event file without the events past an update.

    Events that every process tells anew (`RESTATED`) are taken out whatever their
    update.

    Args:
        path: of the event file; a record cut short at its end is dropped.
        step: last update to keep; -1 drops every event and deletes the file.
        validated: False drops what is of the validation at `step`, too.
    """
    if step < 0:
        os.remove(path)
        return
    # TensorBoard reads every file whose name holds "tfevents"; the temporary must not.
    temporary = pathlib.Path(path).with_name(f".tmp-{os.getpid()}")
    with tf.io.TFRecordWriter(str(temporary)) as writer:
        for record in read_records(path):
            event = tf.compat.v1.Event.FromString(record)
            if event.step > step or _has_tag(event, RESTATED):
                continue
            if event.step < step or validated or _has_tag(event, OF_TRAINING):
                writer.write(record)
    os.replace(temporary, path)


def read_records(path):
    """Yields the records of a file up to the first that was cut short by a kill."""
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    while True:
        try:
            yield next(records)
        except (StopIteration, tf.errors.DataLossError):
            return


def _has_tag(event, beginnings):
    return any(value.tag.startswith(beginnings) for value in event.summary.value)
