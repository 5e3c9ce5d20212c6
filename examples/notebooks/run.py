"""Executes the notebooks of this folder, or those named on the command line, in fresh kernels.

Notebooks are stored without results; `--save` writes them, for reading.
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

arguments = sys.argv[1:]
folder = pathlib.Path(__file__).parent
for path in [pathlib.Path(name) for name in arguments if name != "--save"] or sorted(folder.glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")
    if "--save" in arguments:
        nbformat.write(notebook, path)
