"""Long runs of what the tests do in short: ``python -m soak.<module>`` with ``tests`` on the path."""
