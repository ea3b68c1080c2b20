"""The operators' API as a buffered Lambda function: the entry that the template names.

Reads the environment when it is imported, while the platform gives a whole processor; settings that cannot be
are the platform's init error. Must never do more than that: the API itself is `operators`.
"""

import os
from pathlib import Path

from mangum import Mangum

from motes.hosts.operators import create_operators_api, open_office
from motes.settings import load_settings

handler = Mangum(
    create_operators_api(open_office(load_settings(os.environ, Path.cwd()), os.environ)), lifespan="off"
)
"""What Lambda calls with an event of the function's URL and a context."""
