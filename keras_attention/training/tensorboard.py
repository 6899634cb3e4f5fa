"""What TensorBoard shows of a run, over the number of updates.

The stock Keras callback counts its own steps and starts again after a resume; here the
x-axis is the optimizer's update, and a run that goes on from a checkpoint first takes
out what an earlier process wrote past it. All of a run is one entry of TensorBoard's
list, so that several workdirs can be compared.
"""

import html
import pathlib
import re
import struct

import tensorflow as tf
from tensorboard.plugins.image.metadata import create_summary_metadata

from keras_attention.training.event_files import EVENTS, truncate_events
from keras_attention.training.hyper_parameters import (
    session_end,
    session_start,
    table_of_runs,
)

# What a record of training tells of the machine, not of the model.
_SYSTEM = re.compile(r".*(per_second|memory_gib|minutes|real_token_share)")
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+.!-])")


class TensorBoardLog:
    """Writes the records of a run for TensorBoard.

    Args:
        directory: of the event files.
    """

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self._writer = None

    def open_at(self, step, validated=True):
        """Opens a file to go on after a number of updates.

        Args:
            step: later events, and at 0 all events, are removed.
            validated: False removes what the validation at `step` shows as well.
        """
        for path in sorted(self.directory.glob(EVENTS)):
            truncate_events(path, step if step > 0 else -1, validated)
        # TensorFlow would make it without the rights that a umask leaves to the group.
        self.directory.mkdir(parents=True, exist_ok=True)
        self._writer = tf.summary.create_file_writer(str(self.directory))

    def scalars(self, group, step, values):
        """Writes the numbers among `values` under the tags that `scalar_tag` gives."""
        with self._writer.as_default(step):
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    tf.summary.scalar(scalar_tag(group, name), value)

    def samples(self, group, step, rows):
        """Writes translations as a table.

        Args:
            group: "validation" or "final".
            step: updates done.
            rows: triples (source, reference, translation) of strings.
        """
        cells = [["source", "reference", "translation"], *rows]
        table = [[_literal(cell) for cell in row] for row in cells]
        with self._writer.as_default(step):
            tf.summary.text(f"{group}/samples", table)

    def picture(self, tag, step, png):
        """Writes a picture.

        Args:
            tag: str.
            step: updates done.
            png: bytes.
        """
        # The header of a PNG holds width and height as its bytes 16 to 23.
        width, height = struct.unpack(">II", png[16:24])
        values = tf.constant([str(width).encode(), str(height).encode(), png])
        metadata = create_summary_metadata(
            display_name=None, description=None, converted_to_tensor=True
        )
        with self._writer.as_default(step):
            tf.summary.write(tag, values, metadata=metadata)

    def histograms(self, step, values):
        """Writes the distribution of each array of a dictionary as `weights_NAME`.

        Args:
            step: updates done.
            values: path of a weight -> array; what lies before the first slash, such
                as a block, makes a section of the tab.
        """
        with self._writer.as_default(step):
            for name, array in values.items():
                tf.summary.histogram(f"weights_{name}", array)

    def graph(self, graph):
        """Writes a `tf.Graph`."""
        with self._writer.as_default(0):
            tf.summary.graph(graph)

    def begin_session(self, config):
        """Tells the HParams tab which run this is; every process of a run does.

        Args:
            config: configuration of the run.
        """
        self._write_proto(table_of_runs())
        self._write_proto(session_start(config))

    def end_session(self, succeeded):
        """Tells the HParams tab how the run ended; one that goes on later does not."""
        self._write_proto(session_end(succeeded))

    def _write_proto(self, summary):
        with self._writer.as_default(0):
            tf.summary.experimental.write_raw_pb(summary.SerializeToString())

    def sync(self):
        """Writes everything out."""
        self._writer.flush()

    def close(self):
        """Closes the event file, if one was opened."""
        if self._writer is not None:
            self._writer.close()


def _literal(text):
    # TensorBoard reads every cell as Markdown.
    return _MARKUP.sub(r"\\\1", html.escape(text, quote=False))


def scalar_tag(group, name):
    """Returns the tag of a number in `metrics.jsonl`.

    What a record of training says about the machine has a section of its own.

    Args:
        group: kind of the record.
        name: of the number.

    Example:

    >>> scalar_tag("train", "nll"), scalar_tag("train", "peak_memory_gib")
    ('train/nll', 'system/peak_memory_gib')
    """
    if group == "train" and _SYSTEM.fullmatch(name):
        group = "system"
    return f"{group}/{name}"
