"""The shared libraries: where they are looked for, and what a tensor may hold.

No library is loaded into this process, which has Python's TensorFlow.
"""

import pathlib
import re

import pytest
import tensorflow as tf

from keras_attention.export import c_api


def test_the_numbers_are_those_of_tensorflow():
    for number, name in c_api.NAMES.items():
        assert tf.as_dtype(number).name == name
    assert c_api.FORMATS.keys() | {c_api.STRING} == c_api.NAMES.keys()
    assert c_api.INVALID_ARGUMENT == tf.errors.INVALID_ARGUMENT
    assert c_api.NOT_FOUND == tf.errors.NOT_FOUND
    assert c_api.FAILED_PRECONDITION == tf.errors.FAILED_PRECONDITION
    assert c_api.UNIMPLEMENTED == tf.errors.UNIMPLEMENTED


def test_the_functions_take_what_the_header_says():
    header = pathlib.Path(tf.sysconfig.get_include(), "tensorflow/c")
    files = ("c_api.h", "tf_tensor.h", "tf_status.h", "tf_buffer.h", "tf_tstring.h")
    text = "".join((header / name).read_text() for name in files)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for name, (_, *arguments) in c_api.PROTOTYPES.items():
        if name.startswith("TF_"):
            declared = re.search(rf"\b{name}\(([^)]*)\)", text).group(1)
            count = 0 if declared.strip() in ("", "void") else declared.count(",") + 1
            assert len(arguments) == count, name


def test_packages_are_found_without_importing_them(tmp_path):
    (tmp_path / "second" / "tensorflow").mkdir(parents=True)
    folders = [tmp_path / "first", tmp_path / "second"]
    found = c_api.find_package("tensorflow", folders)
    assert found == tmp_path / "second" / "tensorflow"
    assert c_api.find_package("tensorflow_text", folders) is None
    installed = c_api.find_package("tensorflow")
    assert installed == pathlib.Path(tf.__file__).parent
    assert c_api.find_package("no_such_package") is None


def test_a_folder_without_tensorflow_is_refused(tmp_path):
    with pytest.raises(c_api.EngineError, match=r"\[5\] no tensorflow in .*") as error:
        c_api.Engine([tmp_path])
    assert error.value.code == c_api.NOT_FOUND
    (tmp_path / "tensorflow").mkdir()
    with pytest.raises(c_api.EngineError, match=r"\[5\] .*libtensorflow_framework"):
        c_api.Engine([tmp_path])


def test_a_library_without_the_function_is_refused():
    with pytest.raises(c_api.EngineError, match="no function TF_NumDims in this Tens"):
        c_api._bound("TF_NumDims", [])


@pytest.mark.parametrize(
    "kind, values, shape, text",
    [
        (c_api.INT32, [1.5], [1], r"\[3\] int32 of shape \[1\], received \[1.5\]"),
        (c_api.INT32, [2**31], [1], r"\[3\] int32 .*2147483648"),
        (c_api.INT64, ["1"], [1], r"\[3\] int64 of shape"),
        (c_api.FLOAT, [None], [1], r"\[3\] float32 of shape"),
        (c_api.FLOAT, [1.0], [2], r"\[3\] .* which are 1 values"),
        (c_api.FLOAT, [1.0], [-1, -1], r"\[3\] .* which are 1 values"),
        (c_api.STRING, ["text"], [1], r"\[3\] .*strings are bytes"),
        (22, [1], [1], r"\[12\] tensors are bool, float32, .*, and not type 22"),
    ],
)
def test_values_that_do_not_fit_are_refused(kind, values, shape, text):
    with pytest.raises(c_api.EngineError, match=text):
        c_api._content(kind, values, shape)


def test_values_that_fit_are_packed():
    assert c_api._content(c_api.FLOAT, [1, 2.5], [2, 1]) == b"\0\0\x80?\0\0 @"
    assert c_api._content(c_api.BOOL, [True, False], [2]) == b"\1\0"
    assert c_api._content(c_api.STRING, [b"", b"\xff"], [2]) is None
    assert c_api._content(c_api.INT64, [], [0, 3]) == b""
