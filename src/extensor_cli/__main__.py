import sys

from extensor_cli import main

sys.exit(main())
