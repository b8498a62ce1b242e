#!/usr/bin/env python3
"""Checks that a bill of materials follows the CycloneDX schema and contains what it must: sbom.py FILE"""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = Path(sys.argv[1]).read_text()
validator = JsonStrictValidator(SchemaVersion.V1_6)
error = validator.validate_str(text)
assert error is None, error
assert validator.validate_str(text.replace('"components"', '"parts"', 1)) is not None, "the validator sees nothing"

names = {component["name"] for component in json.loads(text)["components"]}
needed = {"libgmp10", "libsodium23", "libjansson4", "libcjose0", "swift-standard-library", "hummingbird-project/hummingbird"}
missing = needed - names
assert not missing, missing
print("3 passed")
