"""The commands of ``extensor``, a module each; ``extensor_cli`` reads their arguments."""
