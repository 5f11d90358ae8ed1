"""Do the notebooks run from their first cell to their last?"""

import glob
import importlib.util
import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

NOTEBOOKS = sorted(glob.glob(os.path.join(ROOT, "examples", "notebooks", "*.ipynb")))


def test_there_is_one_per_paper_and_one_to_start_from():
    names = {os.path.basename(path) for path in NOTEBOOKS}
    papers = {"extra-stage-cube", "circuit-torus", "congestion-trees", "hypercube-qap", "multidestination-worms"}
    assert names >= {"first-curve.ipynb"} | {f"{name}.ipynb" for name in papers}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[os.path.basename(n) for n in NOTEBOOKS])
def test_a_notebook_runs(notebook, tmp_path):
    if importlib.util.find_spec("nbconvert") is None or importlib.util.find_spec("ipykernel") is None:
        pytest.skip("no nbconvert and ipykernel here (Debian: jupyter-nbconvert, python3-ipykernel)")
    cells = json.load(open(notebook, encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells), "notebooks are kept without their output"
    # The kernel is this Python, whatever kernel is installed for the user.
    kernels = tmp_path / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3", "language": "python"}))
    environment = {**os.environ, "JUPYTER_PATH": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython"),
                   "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path, notebook],
        capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    written = json.load(open(tmp_path / os.path.basename(notebook), encoding="utf-8"))["cells"]
    assert any(cell.get("outputs") for cell in written)
