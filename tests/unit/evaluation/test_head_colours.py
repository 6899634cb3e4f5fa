"""Colours are told apart with every colour vision: Machado et al. 2009, severity 1."""

import numpy as np
import pytest

from keras_attention.evaluation.head_colours import (
    DASHES,
    ON_BLACK,
    ON_WHITE,
    head_style,
)

# Linear RGB as people see it who lack one kind of cones.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colours):
    values = [[int(x[i : i + 2], 16) / 255 for i in (1, 3, 5)] for x in colours]
    values = np.array(values)
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def lab(light):
    xyz = np.clip(light, 0, 1) @ TO_XYZ.T / [0.95047, 1.0, 1.08883]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("colours", [ON_WHITE, ON_BLACK])
def test_any_two_differ(colours, vision):
    places = lab(linear(colours) @ np.transpose(VISIONS[vision]))
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    # The set of Okabe and Ito has 16.
    assert apart[~np.eye(len(colours), dtype=bool)].min() > 30


@pytest.mark.parametrize(
    ("colours", "ground"), [(ON_WHITE, "#fff"), (ON_BLACK, "#121214")]
)
def test_each_stands_out_from_its_ground(colours, ground):
    ground = ground if len(ground) == 7 else "#ffffff"
    luminance = linear([*colours, ground]) @ TO_XYZ[1] + 0.05
    *each, behind = luminance
    contrasts = [max(x, behind) / min(x, behind) for x in each]
    assert min(contrasts) >= 2.6


def test_no_two_of_32_heads_look_alike():
    styles = {head_style(head) for head in range(32)}
    assert len(styles) == 32 == len(ON_WHITE) * len(DASHES)
    assert len(ON_BLACK) == len(ON_WHITE)
    assert head_style(32) == head_style(0)
