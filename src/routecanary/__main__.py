"""The command `routecanary`, also as `python -m routecanary`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; say what to install when only the client is there."""
    try:
        from routecanary.cli.main import run  # noqa: PLC0415 - the extra may be missing

        run()
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("routecanary"):
            raise
        sys.stderr.write(
            f"routecanary: the command line needs {missing.name!r}, which is not installed; "
            "install the extra: pip install 'routecanary[daemon]'\n"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)  # before any command could say so itself


if __name__ == "__main__":
    main()
