"""TensorBoard scalars and texts over the number of updates.

The stock Keras callback counts its own steps and starts again after a resume; here the
x-axis is the optimizer's update, and a run that goes on from a checkpoint first takes
out what an earlier process wrote past it.
"""

import os
import pathlib

import tensorflow as tf

_EVENTS = "events.out.tfevents.*"


def _metadata(plugin, data_class):
    # What tf.summary.scalar and tf.summary.text write; those two need the tensorboard
    # package, which only a reader of the files has to install.
    metadata = tf.compat.v1.SummaryMetadata(data_class=data_class)
    metadata.plugin_data.plugin_name = plugin
    return metadata


_SCALAR = _metadata("scalars", "DATA_CLASS_SCALAR")
_TEXT = _metadata("text", "DATA_CLASS_TENSOR")


class TensorBoardLog:
    """Writes the records of a run for TensorBoard.

    Args:
        directory: of the event files.
    """

    def __init__(self, directory):
        self._directory = pathlib.Path(directory)
        self._writer = None

    def open_at(self, step):
        """Opens a file to go on after a number of updates.

        Args:
            step: later events, and at 0 all events, are removed.
        """
        for path in sorted(self._directory.glob(_EVENTS)):
            truncate_events(path, step if step > 0 else -1)
        self._writer = tf.summary.create_file_writer(str(self._directory))

    def scalars(self, group, step, values):
        """Writes the numbers among `values` as `group/name`."""
        with self._writer.as_default(step):
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    number = tf.constant(value, tf.float32)
                    tf.summary.write(f"{group}/{name}", number, metadata=_SCALAR)

    def samples(self, step, rows):
        """Writes translations as a table.

        Args:
            step: updates done.
            rows: triples (source, reference, translation) of strings.
        """
        cells = [["source", "reference", "translation"], *rows]
        with self._writer.as_default(step):
            table = tf.constant([list(row) for row in cells])
            tf.summary.write("validation/samples", table, metadata=_TEXT)

    def sync(self):
        """Writes everything out."""
        self._writer.flush()

    def close(self):
        """Closes the event file, if one was opened."""
        if self._writer is not None:
            self._writer.close()


def truncate_events(path, step):
    """Rewrites an event file without the events past an update.

    Args:
        path: of the event file; a record cut short at its end is dropped.
        step: last update to keep; -1 drops every event and deletes the file.
    """
    if step < 0:
        os.remove(path)
        return
    # TensorBoard reads every file whose name holds "tfevents"; the temporary must not.
    temporary = pathlib.Path(path).with_name(f".tmp-{os.getpid()}")
    with tf.io.TFRecordWriter(str(temporary)) as writer:
        for record in _records(path):
            if tf.compat.v1.Event.FromString(record).step <= step:
                writer.write(record)
    os.replace(temporary, path)


def _records(path):
    # Ends at the first record that was cut short by a kill.
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    while True:
        try:
            yield next(records)
        except (StopIteration, tf.errors.DataLossError):
            return
