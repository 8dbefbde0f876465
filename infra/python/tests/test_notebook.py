"""The notebook runs. pytest --rewrite keeps its outputs, for readers who do not run it."""

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

import tagnet

NOTEBOOK = Path(__file__).resolve().parent.parent / "facts_to_answers.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch, request):
    # The program's messages name the program as it was started, so it is started by its name.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tagnet").symlink_to(Path(tagnet.find_binary()).resolve())
    monkeypatch.delenv("TAGNET_BINARY", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{Path(shutil.which('sh')).parent}")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, record_timing=False, coalesce_streams=True, resources={"metadata": {"path": tmp_path}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    pictures = [output for cell in code for output in cell.outputs if {"image/png", "image/svg+xml"} & set(output.get("data", {}))]
    assert len(pictures) == 4
    if request.config.getoption("--rewrite"):
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, NOTEBOOK)
