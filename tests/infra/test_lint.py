"""Templates as their own linters see them: not one warning."""

import subprocess
import sys
from pathlib import Path

from infra.sam import Sam
from infra.templates import ROOT


def test_cfn_lint_has_nothing_to_say() -> None:
    templates = [ROOT / "template.yaml", *sorted((ROOT / "infra").glob("*.yaml"))]
    command = [str(Path(sys.executable).parent / "cfn-lint"), *map(str, templates)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_sam_finds_the_template_valid(sam: Sam) -> None:
    assert "is a valid SAM Template" in sam.run("validate", "--lint")
