"""docs/operating.md names every alert, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

from routecanary.cli import standing, status
from routecanary.cli.exit_codes import ExitCode
from routecanary.domain.notice import NoticeKind, Severity
from routecanary.rounds.wording import WORDINGS

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")


def test_every_notice_that_asks_something_of_a_person_is_explained() -> None:
    """Whatever is more than information stands in the table, and so does what may be mistaken for it."""
    asking = [kind for kind, (severity, _) in WORDINGS.items() if severity is not Severity.INFO]
    assert len(asking) > 15
    for kind in [
        *asking,
        NoticeKind.REQUALIFYING,
        NoticeKind.REINSTATED,
        NoticeKind.EXPIRED,
        NoticeKind.LIFTED,
    ]:
        assert f"`{kind.value}`" in PAGE, kind


def test_every_alert_of_the_status_is_explained() -> None:
    """By the names that the sources yield, under the notice's name or its own."""
    sources = "".join(
        Path(module.__file__ or "").read_text(encoding="utf-8") for module in (standing, status)
    )
    named = set(re.findall(r'yield \(?\s*f?"(\w+)', sources)) | {standing.NO_DAEMON}
    assert len(named) > 12
    for name in named:
        assert re.search(rf"`{name}\b", PAGE), name


def test_every_exit_code_of_the_daemon_is_one_that_there_is() -> None:
    """The table of `run` tells of real codes."""
    table = PAGE[PAGE.index("`run` ends with") : PAGE.index("## One daemon a store")]
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert codes == {ExitCode.OK, ExitCode.BAD_INPUT, ExitCode.FILES, ExitCode.RUNNING, ExitCode.INTERNAL}
