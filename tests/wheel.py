"""Build the wheel, by way of a source distribution, of the files that Git knows: `make wheel`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _build(kind: str, source: Path, into: Path) -> Path:
    """Let setuptools build an sdist or a wheel of a folder."""
    code = f"import sys; from setuptools import build_meta as b; b.build_{kind}(sys.argv[1])"
    # with a fixed time, two builds of one commit are the same
    stamp = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct").strip()
    subprocess.run(
        [sys.executable, "-c", code, str(into)],
        cwd=source,
        check=True,
        capture_output=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": stamp},
    )
    [made] = into.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return made


def build(into: Path) -> tuple[Path, Path]:
    """Build both into a folder, and return them: source distribution, wheel."""
    into.mkdir(parents=True, exist_ok=True)
    for old in [*into.glob("spark_cdc-*.tar.gz"), *into.glob("spark_cdc-*.whl")]:
        old.unlink()
    with tempfile.TemporaryDirectory() as name:
        tree, unpacked = Path(name, "tree"), Path(name, "unpacked")
        for file in _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
            if (ROOT / file).is_file():
                (tree / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, tree / file)
        sdist = _build("sdist", tree, into.absolute())
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        [source] = unpacked.iterdir()
        return sdist, _build("wheel", source, into.absolute())


if __name__ == "__main__":
    print("\n".join(str(path) for path in build(Path(sys.argv[1]))))
