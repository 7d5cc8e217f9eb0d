"""What is in the box? The wheel, as an application and as an operator install it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "routecanary"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    """Texts, templates, queries and scenarios travel with the code; tests and benchmarks do not."""
    with zipfile.ZipFile(wheel) as box:
        held = {name for name in box.namelist() if ".dist-info/" not in name}
    there = {
        f"routecanary/{path.relative_to(SOURCE)}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == there


def test_an_application_inherits_no_dependency(wheel: Path, tmp_path: Path) -> None:
    """Without the extra nothing is required; the client works and the command says what to install."""
    with zipfile.ZipFile(wheel) as box:
        box.extractall(tmp_path)
    (metadata,) = tmp_path.glob("*.dist-info/METADATA")
    required = [
        line for line in metadata.read_text("utf-8").splitlines() if line.startswith("Requires-Dist:")
    ]
    assert required
    assert all("extra == 'daemon'" in line for line in required)
    bare = [sys.executable, "-I", "-S", "-c"]  # no site-packages
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    use = "from routecanary.client import Canary; "
    use += "print(Canary('/none', thread=False).provider_preferences('a/b'))"
    said = subprocess.run([*bare, path + use], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout == "{}\n"
    run = "import routecanary.__main__ as m; m.main()"
    told = subprocess.run([*bare, path + run], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 2
    assert "pip install 'routecanary[daemon]'" in told.stderr
