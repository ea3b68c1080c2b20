"""What a terminal would obey is not printed as it is."""

import pytest

from motes.cli import main


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\tb", "a\u202eb", "a\x9bb"])
def test_a_name_is_one_piece_of_one_line(tmp_path, monkeypatch, capfd, name):
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["keys", "new", "--name", name]) == 0
    assert main(["keys", "list"]) == 0
    out, err = capfd.readouterr()
    assert name not in out + err
    assert ascii(name)[1:-1] in out
    assert all(mark.isprintable() or mark in "\n\t" for mark in out + err)
