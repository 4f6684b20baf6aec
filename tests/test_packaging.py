"""What installs streamsieve where no wheel fits."""

import os
import shutil
import subprocess
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
