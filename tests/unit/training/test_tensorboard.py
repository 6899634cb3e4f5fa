import pathlib

import pytest
import tensorflow as tf
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from keras_attention.config import TrainingConfig, TransformerConfig
from keras_attention.training.tensorboard import TensorBoardLog, truncate_events
from tests.integration.small_runs import event_files


def events(directory):
    found = []
    for path in event_files(pathlib.Path(directory)):
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            found += [(event.step, value) for value in event.summary.value]
    return found


def steps(directory, tag):
    return [step for step, value in events(directory) if value.tag == tag]


def write(directory, start, *updates):
    board = TensorBoardLog(directory)
    board.open_at(start)
    for step in updates:
        board.scalars("train", step, {"nll": 0.5 * step, "name": "x", "epoch": 1})
    board.sync()
    board.close()


def test_scalars_lie_over_the_updates(tmp_path):
    write(tmp_path, 0, 2, 4)
    found = [(s, v) for s, v in events(tmp_path) if v.tag == "train/nll"]
    assert [step for step, _ in found] == [2, 4]
    assert [tf.make_ndarray(v.tensor).item() for _, v in found] == [1.0, 2.0]
    assert found[0][1].metadata.plugin_data.plugin_name == "scalars"
    assert {v.tag for _, v in events(tmp_path)} == {"train/nll", "train/epoch"}


def test_samples_are_a_table_of_text(tmp_path):
    board = TensorBoardLog(tmp_path)
    board.open_at(0)
    board.samples("validation", 3, [("a dog", "ein Hund", "ein Hündchen")])
    board.close()
    ((step, value),) = events(tmp_path)
    assert step == 3 and value.metadata.plugin_data.plugin_name == "text"
    table = tf.make_ndarray(value.tensor)
    assert table.shape == (2, 3)
    assert table[1, 2].decode() == "ein Hündchen"


def test_steps_go_on_after_a_stop(tmp_path):
    write(tmp_path, 0, 2, 4, 6)
    write(tmp_path, 6, 8, 10)
    assert steps(tmp_path, "train/nll") == [2, 4, 6, 8, 10]


def test_what_a_killed_process_wrote_past_the_checkpoint_is_taken_out(tmp_path):
    write(tmp_path, 0, 2, 4, 6)
    write(tmp_path, 3, 4, 6, 8)
    assert steps(tmp_path, "train/nll") == [2, 4, 6, 8]
    assert all("tfevents" in path.name for path in tmp_path.iterdir())


def test_a_new_run_removes_the_events_of_another(tmp_path):
    write(tmp_path, 0, 2, 4)
    write(tmp_path, 0, 2)
    assert steps(tmp_path, "train/nll") == [2]


def test_an_event_cut_short_is_dropped(tmp_path):
    write(tmp_path, 0, 2, 4, 6)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    truncate_events(path, 4)
    assert steps(tmp_path, "train/nll") == [2, 4]


def test_an_event_cut_short_is_dropped_though_nothing_is_past(tmp_path):
    write(tmp_path, 0, 2, 4)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    truncate_events(path, 9)
    assert steps(tmp_path, "train/nll") == [2, 4]
    assert steps(tmp_path, "train/epoch") == [2]  # the one that was cut is gone


def test_closing_what_was_not_opened(tmp_path):
    TensorBoardLog(tmp_path).close()
    assert not any(tmp_path.iterdir()), "closing must not make a file"


@pytest.mark.filterwarnings("ignore:html5lib's sanitizer")  # of TensorBoard
def test_markup_in_a_sentence_is_shown_as_it_is(tmp_path):
    from tensorboard import plugin_util

    board = TensorBoardLog(tmp_path)
    board.open_at(0)
    board.samples("final", 3, [("*a* <b>", "1. _c_", "[d](e) | `f`")])
    board.close()
    ((_, value),) = events(tmp_path)
    table = tf.make_ndarray(value.tensor)
    html = plugin_util.markdown_to_safe_html(table[1, 0])
    assert html == "<p>*a* &lt;b&gt;</p>"
    assert "<li>" not in plugin_util.markdown_to_safe_html(table[1, 1])
    assert "<a " not in plugin_util.markdown_to_safe_html(table[1, 2])


def test_the_size_of_a_picture_is_read_from_it(tmp_path):
    board = TensorBoardLog(tmp_path)
    board.open_at(0)
    png = tf.io.encode_png(tf.zeros((3, 300, 1), tf.uint8)).numpy()
    board.picture("attention/x", 7, png)
    board.close()
    ((step, value),) = events(tmp_path)
    assert step == 7 and value.metadata.plugin_data.plugin_name == "images"
    assert tf.make_ndarray(value.tensor).tolist() == [b"300", b"3", png]


def test_the_session_of_an_earlier_process_is_replaced(tmp_path):
    config = {
        "preset": "tiny",
        "transformer": TransformerConfig(vocabulary_size=50),
        "training": TrainingConfig(max_steps=7),
    }
    for start, last in ((0, 7), (4, 9)):
        config["training"] = TrainingConfig(max_steps=last)
        board = TensorBoardLog(tmp_path)
        board.open_at(start)
        board.begin_session(config)
        board.end_session(True)
        board.close()
    tags = [value.tag for _, value in events(tmp_path)]
    assert len(tags) == len(set(tags)) == 3
    (start,) = (v for _, v in events(tmp_path) if v.tag.endswith("start_info"))
    content = HParamsPluginData.FromString(start.metadata.plugin_data.content)
    assert content.session_start_info.hparams["max_steps"].number_value == 9
