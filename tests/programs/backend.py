"""The backend of compiled programs: that of EXTENSOR_TEST_BACKEND, by default the native one."""

from __future__ import annotations

import os

BACKEND = os.environ.get("EXTENSOR_TEST_BACKEND", "native")
