"""How many files one has to open to follow a call does not grow."""

from tests import ways


def test_a_call_enters_no_more_files_than_before(tmp_path):
    found = {name: sorted(entered) for name, entered in ways.ways(tmp_path).items()}
    grown = {name: files for name, files in found.items() if len(files) > ways.MOST[name]}
    assert grown == {}
