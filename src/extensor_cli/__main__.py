import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the working folder, where a file numpy.py would be taken for NumPy

from extensor_cli import main

sys.exit(main())
