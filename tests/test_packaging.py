"""What installs streamsieve where no wheel fits."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
@pytest.mark.skipif(os.name == "nt", reason="Visual Studio is found without a path")
def test_without_a_compiler_a_sentence_says_what_to_do(tmp_path):
    words = ["cmake", "-S", ROOT, "-B", tmp_path]
    environment = os.environ | {"CC": "false", "CXX": "false"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=100, check=False)
    said = " ".join(done.stderr.split())
    assert done.returncode
    assert "no C++20 compiler to build it: install g++ or clang" in said
    assert len(done.stderr.splitlines()) < 12


def test_the_conda_recipe_has_the_version_and_dependencies_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    assert f'version: "{project["project"]["version"]}"' in recipe
    run = recipe[recipe.index("  run:\n") :].split("\n\n")[0]
    wanted = ["python>=3.11", *project["project"]["dependencies"]]
    assert [line.replace(" ", "") for line in re.findall(r"- (.+)", run)] == wanted
    host = recipe[recipe.index("  host:\n") : recipe.index("  run:\n")].replace(" >=", ">=")
    assert all(f"- {one}" in host for one in project["build-system"]["requires"])
