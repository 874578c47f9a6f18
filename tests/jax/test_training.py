"""Short trainings of real models; `./dev test training` is the long form."""

import pytest
import run_training


@pytest.mark.parametrize("model", run_training.MODELS)
def test_loss_curve(model):
    if not run_training.PLUGIN.exists():
        pytest.skip("the plugin is not built")
    curves = run_training.train(model, 100)
    assert curves.cpu[-1] < 0.8 * curves.cpu[0], "the model learns"
    assert curves.worst()[0] <= run_training.TOLERANCE
