import pytest
import tensorflow as tf

from keras_attention.training.event_files import read_records, truncate_events


def write(path, *pairs):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for step, tag in pairs:
            event = tf.compat.v1.Event(step=step)
            event.summary.value.add(tag=tag, simple_value=1.0)
            writer.write(event.SerializeToString())


def read(path):
    events = [tf.compat.v1.Event.FromString(record) for record in read_records(path)]
    return [(event.step, event.summary.value[0].tag) for event in events]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    write(path, (0, "_hparams_/experiment"), (2, "train/nll"), (4, "train/nll"))
    return path


def test_what_is_past_the_update_is_taken_out(path):
    truncate_events(path, 3)
    assert read(path) == [(2, "train/nll")]


def test_what_is_of_the_last_update_stays(path):
    truncate_events(path, 4)
    assert read(path) == [(2, "train/nll"), (4, "train/nll")]


@pytest.mark.parametrize("tag", ["final/nll", "_hparams_/session_end_info"])
def test_what_every_process_tells_anew_is_taken_out(path, tag):
    write(path, (2, "train/nll"), (2, tag), (4, "finally/nll"))
    truncate_events(path, 9)
    assert read(path) == [(2, "train/nll"), (4, "finally/nll")]


def test_a_validation_that_is_made_up_is_not_shown_twice(path):
    of_validation = ["validation/nll", "attention_encoder_self/block_1"]
    of_training = ["train/nll", "system/memory_gib"]
    before = [(2, tag) for tag in of_training + of_validation]
    write(path, *before, *((4, tag) for tag in of_training + of_validation))
    truncate_events(path, 4, validated=False)
    assert read(path) == before + [(4, tag) for tag in of_training]


def test_a_record_cut_short_ends_the_file(path):
    path.write_bytes(path.read_bytes()[:-3])
    truncate_events(path, 9)
    assert read(path) == [(2, "train/nll")]


def test_everything_goes_before_the_first_update(path):
    truncate_events(path, -1)
    assert not path.exists()
