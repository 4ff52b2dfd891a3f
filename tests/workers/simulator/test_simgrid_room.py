"""SimGrid's headers and names are the business of one folder, which adapts it."""

import re
from pathlib import Path

SIMULATOR = Path(__file__).resolve().parents[3] / "workers/simulator"
INCLUDE = re.compile(r"^#include [<\"](simgrid|smpi|xbt)/", re.MULTILINE)


def test_one_folder_includes_simgrid() -> None:
    sources = [*SIMULATOR.rglob("*.hpp"), *SIMULATOR.rglob("*.cpp")]
    including = {source.parent.name for source in sources if INCLUDE.search(source.read_text())}
    assert including == {"simgrid"}
