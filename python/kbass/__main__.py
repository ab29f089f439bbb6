"""The command `kbass` that came with the package: `python3 -m kbass discover data.csv`."""

import os
import sys

from . import _library


def main() -> None:
    command = _library.command()
    if command is None or os.path.samefile(command, sys.argv[0]):
        sys.exit("kbass: the command is not found beside %s" % _library.lib._name)
    os.execv(command, [command] + sys.argv[1:])


if __name__ == "__main__":
    main()
