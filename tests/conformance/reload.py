"""Program of `test_reload.py`: loads what another process saved.

Nothing but keras and the package is imported, and no `custom_objects` are given.
"""

import json
import pathlib
import sys

import keras
import numpy as np

import keras_attention  # noqa: F401  (registers the classes)


def main(folder):
    for path in sorted(folder.glob("*.keras")):
        inputs = np.load(path.with_suffix(".inputs.npz"))
        model = keras.saving.load_model(path)
        values = [inputs[name] for name in inputs]
        if "source_ids" in inputs:
            values = dict(inputs)
        elif len(values) == 1:
            values = values[0]
        output = keras.ops.convert_to_numpy(keras.ops.cast(model(values), "float32"))
        np.save(path.with_suffix(".output.npy"), output)
    for path in sorted(folder.glob("*.json")):
        made = keras.saving.deserialize_keras_object(json.loads(path.read_text()))
        inputs = dict(np.load(path.with_suffix(".inputs.npz")))
        if isinstance(made, keras.metrics.Metric):
            made.update_state(**inputs)
            output = made.result()
        else:
            output = made(**inputs)
        np.save(path.with_suffix(".output.npy"), keras.ops.convert_to_numpy(output))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
