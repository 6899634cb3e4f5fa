"""The calculation in benchmarks/scaling.py, and the guide that shows it."""

import importlib.util
import os
import re
import subprocess

import pytest

from keras_attention.config import TransformerConfig
from keras_attention.training.cluster import Cluster, read_cluster


@pytest.fixture(scope="module")
def scaling(repository):
    path = repository / "benchmarks" / "scaling.py"
    spec = importlib.util.spec_from_file_location("benchmark_scaling", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def guide(repository):
    return (repository / "docs" / "scaling.md").read_text(encoding="utf-8")


def preset(name):
    return TransformerConfig.from_preset(name, vocabulary_size=37_000)


@pytest.mark.parametrize(
    ("name", "count"), [("base", 63_045_632), ("big", 214_171_648)]
)
def test_parameters_are_those_of_the_paper(scaling, name, count):
    assert scaling.parameter_count(preset(name)) == count


def test_operations_of_a_model_that_can_be_counted_by_hand(scaling):
    one = TransformerConfig(
        vocabulary_size=10, num_layers=1, model_dim=2, num_heads=1, feed_forward_dim=3
    )
    # A row of one cell a side. Four 2x2 projections of 8 operations in each of three
    # attentions, scores and sums of 4 + 4, two networks of 2 x 12, logits of 40.
    forward = 3 * (4 * 8 + 4 + 4) + 2 * (12 + 12) + 40
    assert scaling.update_operations(one, cells=1, length=1) == 3 * forward
    assert scaling.update_operations(one, cells=7, length=1) == 21 * forward
    longer = scaling.update_operations(one, cells=1, length=5)
    assert longer - 3 * forward == 3 * 3 * 4 * 8


def test_a_ring_sends_every_byte_almost_twice(scaling):
    assert scaling.all_reduce_seconds(100.0, 1, 10.0) == 0.0
    assert scaling.all_reduce_seconds(100.0, 2, 10.0) == pytest.approx(10.0)
    assert scaling.all_reduce_seconds(100.0, 8, 10.0) == pytest.approx(17.5)
    assert scaling.all_reduce_seconds(0.0, 8, 10.0, latency=0.5) == pytest.approx(7.0)


def test_the_network_bounds_a_ring_only_between_hosts(scaling):
    one = scaling.Machines("x", 8, 8, 1.0, link=300.0, network=100.0)
    many = scaling.Machines("x", 16, 8, 1.0, link=300.0, network=100.0)
    fast = scaling.Machines("x", 16, 8, 1.0, link=300.0, network=900.0)
    assert [m.bandwidth() for m in (one, many, fast)] == [300.0, 100.0, 300.0]


def test_an_estimate_adds_up(scaling):
    assumed = scaling.assumptions(
        ["--overhead_ms", "5", "--latency_us", "0", "--link_efficiency", "0.5"]
    )
    machines = scaling.Machines("x", 4, 8, 1e12, link=1e9, network=0.0)
    computed, reduced = scaling.estimate(preset("base"), machines, 1_000, assumed)
    operations = scaling.update_operations(preset("base"), 1_000, 32)
    assert computed == pytest.approx(operations / (4e12 * 0.3) + 0.005)
    assert reduced == pytest.approx(1.5 * 4 * 63_045_632 / 5e8)


def test_the_guide_shows_what_the_script_prints(scaling, guide):
    assert "\n".join(scaling.table(scaling.assumptions([]))) in guide
    assert "Nothing here is measured." in guide


def test_the_commands_of_the_guide_are_shell(guide):
    blocks = re.findall(r"```bash\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        said = subprocess.run(
            ["bash", "-n"], input=block, text=True, capture_output=True, check=False
        )
        assert (said.returncode, said.stderr) == (0, ""), block


STUBS = {
    "scontrol": "printf 'node1\\nnode2\\nnode3\\n'",
    "srun": 'shift; SLURM_PROCID=2 "$@"',
    "ka-train-translation": 'echo "$TF_CONFIG"; exit "${CODE:-0}"',
}


def cluster_of(script, tmp_path, **environment):
    """Runs a script of the guide where its commands are stubs; gives its cluster."""
    for name, body in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
    said = subprocess.run(
        ["bash", "-c", script],
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    lines = [line for line in said.stdout.splitlines() if line.startswith("{")]
    return said.returncode, [read_cluster({"TF_CONFIG": line}) for line in lines]


@pytest.mark.parametrize(("code", "starts"), [(0, 1), (75, 5), (137, 5), (2, 1)])
def test_the_slurm_script_makes_a_cluster(guide, tmp_path, code, starts):
    (script,) = re.findall(r"```bash\n(#!/bin/bash.*?)```", guide, re.DOTALL)
    job = {"SLURM_JOB_NODELIST": "node[1-3]", "SLURM_JOB_ID": "7", "CODE": str(code)}
    ended, clusters = cluster_of(script, tmp_path, **job)
    addresses = ("node1:2222", "node2:2222", "node3:2222")
    assert clusters == [Cluster(addresses, 2)] * starts
    assert ended == code


def test_the_script_of_a_pod_makes_a_cluster(guide, tmp_path):
    (script,) = re.findall(r"- \|\n(.*?)\n *ports:", guide, re.DOTALL)
    _, clusters = cluster_of(script, tmp_path, JOB_COMPLETION_INDEX="1")
    assert clusters == [Cluster(("base16-0.base16:2222", "base16-1.base16:2222"), 1)]


def test_the_manifest_of_the_guide_is_yaml(guide):
    yaml = pytest.importorskip("yaml", reason="no YAML parser is installed")
    (block,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    service, job = yaml.safe_load_all(block)
    name = job["metadata"]["name"]
    assert service["metadata"]["name"] == job["spec"]["template"]["spec"]["subdomain"]
    assert service["spec"]["selector"] == {"job-name": name}
    assert job["spec"]["completions"] == job["spec"]["parallelism"] == 2
    (container,) = job["spec"]["template"]["spec"]["containers"]
    script = container["command"][2]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_flags_of_the_guide_exist(guide):
    from trainers._fields import CONFIG_FIELDS

    known = {name for fields in CONFIG_FIELDS.values() for name in fields}
    known |= {"workdir", "preset"}
    known |= {f"{split}_{side}" for split in ("train", "valid") for side in SIDES}
    used = set(re.findall(r"(?<![\w-])--([a-z]+(?:_[a-z0-9]+)+)\b", guide))
    assert used <= known, used - known
    assert {"rows_multiple", "micro_batches", "peer_timeout_seconds"} <= used


SIDES = ("source", "target")
