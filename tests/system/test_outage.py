"""An hour in which the gateway, then the account, then the listing fails: nobody is suspended for it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode
from routecanary.domain.settings import NotifySettings, ScheduleSettings
from routecanary.lab.host import Account
from routecanary.lab.scenario import scenario_from_toml
from routecanary.wiring import ON_EVENT
from tests.commandline import SCENARIO
from tests.desk import DeskGateway, Hearer, Trouble
from tests.virtual_time import VirtualClock
from tests.watched import NAME, START, a_watch, run, some_settings

HEALTHY_SCENARIO = scenario_from_toml(SCENARIO.split("[[models.routes.faults]]")[0], "healthy")
"""Five routes that never fail by themselves."""

HOUR = timedelta(hours=1)
PERIOD = timedelta(minutes=5)


def test_an_hour_of_outage_suspends_nobody_and_is_told_once(tmp_path: Path) -> None:
    """Each trouble is one notice and its end; the list stays empty, and rounds go on when all is well."""
    clock = VirtualClock(START)
    settings = some_settings(
        tmp_path,
        schedule=ScheduleSettings(period=PERIOD, jitter=timedelta()),
        notify=NotifySettings(on_event=("told",)),
        policy=Policy(min_round_gap=timedelta()),
        initial_mode=Mode.ENFORCE,
    )
    hearer = Hearer(ON_EVENT)
    watched = a_watch(settings, [], clock=clock, channels=[hearer])
    gateway = DeskGateway(HEALTHY_SCENARIO, clock)
    watched.world.gateway = gateway

    def set_account(account: Account) -> None:
        gateway.desk.account = account

    def set_trouble(trouble: Trouble | None) -> None:
        gateway.trouble = trouble

    begins = timedelta(minutes=20)
    for after, deed in (
        (timedelta(), lambda: set_trouble(Trouble.SERVER_ERRORS)),
        (HOUR / 3, lambda: set_account(Account.NO_CREDIT)),
        (HOUR / 3, lambda: set_trouble(None)),
        (HOUR * 2 / 3, lambda: set_trouble(Trouble.EMPTY_LISTING)),
        (HOUR, lambda: set_account(Account.OK)),
        (HOUR, lambda: set_trouble(None)),
        (HOUR + timedelta(minutes=20), watched.supervisor.stop),
    ):
        clock.after(begins + after, deed)
    run(watched)

    told = Counter(hearer.kinds())
    assert told == {
        "gateway_outage": 1,
        "account_fault": 1,
        "listing_shrunk": 1,
        "capacity_low": 1,  # the third empty listing in a row is believed, as the policy says
        "capacity_restored": 1,
        "round_overdue": 1,
        "listing_believed": 1,
        "account_restored": 1,
        "gateway_outage_ended": 1,
        "round_returned": 1,
    }
    kinds = Counter(stored.kind for stored in watched.world.store.read())
    assert not kinds.keys() & {"suspended", "suspension_blocked", "common_cause"}
    assert kinds["gateway_outage"] > 4, "it was met again and again"
    assert kinds["account_fault"] > 2
    assert watched.supervisor.counts["doubted"] == 2
    assert watched.world.ledger.state(NAME).suspensions() == {}
    conditions = watched.world.ledger.conditions()
    assert dict(conditions.of(NAME)) == {}
    assert dict(conditions.of(None)) == {}
