import numpy as np
import tensorflow as tf

from keras_attention.training.projector import delete_projector, write_projector


def matrix(value):
    return {"token_embedding": tf.fill((2, 3), value)}


def read(directory):
    path = tf.train.latest_checkpoint(str(directory))
    return tf.train.load_checkpoint(path).get_tensor("token_embedding")


def test_the_newest_matrix_is_found_and_the_one_before_is_gone(tmp_path):
    write_projector(tmp_path, 9, matrix(1.0), ["a", "b"])
    write_projector(tmp_path, 10, matrix(2.0), ["a", "b"])
    assert np.array_equal(read(tmp_path), np.full((2, 3), 2.0))
    assert {p.stem for p in tmp_path.glob("embeddings-*")} == {"embeddings-10"}
    assert (
        'tensor_name: "token_embedding"'
        in (tmp_path / "projector_config.pbtxt").read_text()
    )


def test_a_run_that_goes_on_from_before_writes_its_own(tmp_path):
    write_projector(tmp_path, 10, matrix(2.0), ["a", "b"])
    write_projector(tmp_path, 1, matrix(1.0), ["a", "b"])
    assert np.array_equal(read(tmp_path), np.full((2, 3), 1.0))


def test_the_directory_may_be_moved(tmp_path):
    write_projector(tmp_path / "old", 1, matrix(1.0), ["a", "b"])
    (tmp_path / "old").rename(tmp_path / "new")
    assert np.array_equal(read(tmp_path / "new"), np.full((2, 3), 1.0))


def test_every_piece_is_one_line_of_one_column(tmp_path):
    write_projector(tmp_path, 1, matrix(1.0), ["a\tb\r\nc", "\\t"])
    assert (tmp_path / "pieces.tsv").read_text() == "a\\tb\\r\\nc\n\\\\t\n"


def test_deleted_means_nothing_is_left(tmp_path):
    delete_projector(tmp_path)  # there was none
    (tmp_path / "events").touch()
    write_projector(tmp_path, 1, matrix(1.0), ["a", "b"])
    delete_projector(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["events"]
