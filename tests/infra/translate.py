"""Run by the interpreter that `sam` runs on: the template named, as CloudFormation will see it, as JSON.

The translator is the one that AWS runs. It asks for a code address where the template has a folder.
"""

import json
import sys
from pathlib import Path

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoManagedPolicies:
    """Names of managed policies are not looked up: the template uses none of AWS's."""

    def load(self) -> dict[str, str]:
        return {}


template = yaml_parse(Path(sys.argv[1]).read_text())
template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
sys.stdout.write(json.dumps(transform(template, {}, NoManagedPolicies())))
