from keras_attention.training.followers import Mute


def test_anything_may_be_called_and_nothing_happens():
    log = Mute()
    with log.update(3), log.write({"kind": "train"}, step=1):
        assert not log.is_due()


def test_it_can_be_copied_and_shown_as_other_objects():
    assert "Mute" in repr(Mute())
    assert not hasattr(Mute(), "__len__")
