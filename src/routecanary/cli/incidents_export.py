"""`routecanary incidents export`: the evidence of one suspension, to be sent to a provider."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.incidents import the_one
from routecanary.cli.output import complain, say, say_json
from routecanary.clock import SystemClock
from routecanary.errors import InputError
from routecanary.rounds.packet import packet_of
from routecanary.rounds.packet_page import file_of, page_of
from routecanary.wiring import offline_records, redactor_of, settings_at


def export(
    incident: int,
    /,
    *,
    out: Path | None = None,
    name_peers: bool = False,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Write the evidence of one suspension as a page and as JSON, to be sent to the provider.

    The smallest request that shows the fault, as a curl line and in Python, what was expected, what came, how
    often, and how often from the other routes; no key, no user, no account. Exit code 1 where there is no
    such incident, or none of its answers is kept any more.

    Parameters
    ----------
    incident
        Its id, as the list shows it.
    out
        The directory to write to, made where it is missing; left out, the working directory. Files of the
        same name are replaced.
    name_peers
        Name the other routes; left out, they are only counted.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        found = the_one(records, incident)
        if found is None:
            return ExitCode.FINDING
        packet = packet_of(
            records.store,
            found,
            settings,
            now=clock.now(),
            hide=redactor_of(settings),
            name_peers=name_peers,
        )
    if packet is None:
        complain(f"of incident {incident} no answer that failed is kept any more")
        return ExitCode.FINDING
    folder = Path() if out is None else out
    page, document = folder / f"incident-{incident}.html", folder / f"incident-{incident}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text(page_of(packet), encoding="ascii")
        document.write_text(file_of(packet), encoding="ascii")
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            key="--out",
            value=str(folder),
            allowed="a directory of yours",
        ) from None
    if json:
        say_json(
            {
                "incident": incident,
                "page": str(page),
                "document": str(document),
                "contracts": [exhibit.contract for exhibit in packet.exhibits],
                "named_peers": name_peers,
            }
        )
        return ExitCode.OK
    say(f"{page}: for people; {document}: for programs. Read them before you send them.")
    return ExitCode.OK
