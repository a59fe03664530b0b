"""Durability test: inject faults under load and check that nothing acknowledged is lost.

Several users upload, ask, delete, restore, purge and back up through a real installation (`pagelight serve`, `pagelight
worker`, the app, the embedded PostgreSQL) while faults happen: killed processes, full disks, a frozen database, power
cuts. After each fault the system recovers and its state is compared with what the users were told
(`benchmarks.chaos.census`):

- lost: confirmed data is gone or in another state; an unaffected file failed
- doubled: two documents of one upload, two copies of chunks
- orphaned: files, temporary folders or rows that no row owns
- half-searchable: a ready document with missing chunks, postings or vectors; not exactly one current version
- hung: a request without a timely answer, a document without progress, a leftover process

`benchmarks.chaos.disks` describes what power cuts and full disks require of the machine.
"""

import dataclasses
import functools
import itertools
import os
import random
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos import disks, faults
from benchmarks.chaos.census import Census
from benchmarks.chaos.disks import Folder
from benchmarks.chaos.faults import Stage
from benchmarks.chaos.ledger import Ledger, Wrong, log_progress
from benchmarks.chaos.services import Services
from benchmarks.chaos.users import Archivist, Crowd, User
from benchmarks.processes import PROC
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors
from rag.engine import Installation

USERS, QUICK_USERS = 3, 2
PAGES, QUICK_PAGES = 6, 2
BEFORE_SECONDS, QUICK_BEFORE_SECONDS = (1.0, 6.0), (0.3, 1.0)
AFTER_SECONDS, QUICK_AFTER_SECONDS = (1.0, 3.0), (0.0, 0.3)
NONE = at_most(0)
KILL = "kill "


@dataclass(frozen=True)
class Round:
    """A fault with its name."""

    name: str
    fault: Callable[[Stage], str]


def measure(options: Options, section: Section) -> None:
    """Run rounds of faults in a temporary installation."""
    if not PROC.is_dir():
        raise errors.ConfigError("This benchmark reads /proc, which only Linux has. Omit it.")
    ledger = Ledger()
    chance = random.Random(options.chaos.seed)
    with (
        disks.best(options.folder / f"chaos-{uuid.uuid4().hex[:8]}") as disk,
        tempfile.TemporaryDirectory(prefix="chaos-") as logs,
        installation(options, disk, Path(logs), ledger, chance) as (stage, crowd),
    ):
        log_progress(f"seed {options.chaos.seed}; {disk.say}")
        census = Census(stage.services, ledger)
        rounds = plan(options, disk, chance)
        for number, (this, following) in enumerate(zip(rounds, [*rounds[1:], None], strict=True), 1):
            ledger.round = f"round {number}, {this.name}"
            _run(this, stage, crowd)
            if following is None or not (options.quick and following.name.startswith(KILL)):
                crowd.pause()
                census.take()
            log_progress(f"{len(ledger.violations)} violations so far")
        crowd.end()
        census.stop()
    _add(section, ledger, rounds, disk, options)


def plan(options: Options, disk: Folder, chance: random.Random) -> list[Round]:
    """Return the rounds in order, without those that the machine does not support."""
    chaos = options.chaos
    if options.quick:
        once = {name: min(1, getattr(chaos, name)) for name in ("disk_full", "freezes", "power_cuts")}
        chaos = dataclasses.replace(chaos, rounds=min(len(faults.KILLED), chaos.rounds), **once)
    kinds = itertools.islice(itertools.cycle(faults.KILLED), chaos.rounds)
    rounds = [Round(f"{KILL}{kind}", functools.partial(faults.kill, kind=kind)) for kind in kinds]
    rounds += [Round("disk full", faults.fill_disk)] * (chaos.disk_full if disk.can_fill else 0)
    rounds += [Round("frozen database", faults.freeze_database)] * chaos.freezes
    rounds += [Round("power cut", faults.cut_power)] * (chaos.power_cuts if disk.can_crash else 0)
    if not options.quick:
        chance.shuffle(rounds)
    return rounds


@contextmanager
def installation(
    options: Options, disk: Folder, logs: Path, ledger: Ledger, chance: random.Random
) -> Iterator[tuple[Stage, Crowd]]:
    """Yield a running installation on `disk` with its users, who wait to start."""
    data, temporary, backups = (disk.path / name for name in ("data", "tmp", "backups"))
    temporary.mkdir()
    backups.mkdir()
    changes = {"rag_data_dir": data, "rag_database_url": None, "rag_storage_url": None}
    names = [f"user{number}" for number in range(1, (QUICK_USERS if options.quick else USERS) + 1)]
    with Installation(options.config.model_copy(update=changes)) as opened:
        keys = {name: opened.for_user(name).keys.create("chaos", ("write",))[1] for name in names}
    os.sync()
    services = Services(data, temporary, logs, workers=1 if options.quick else 2, patience=options.chaos.patience)
    seed = options.chaos.seed
    pages = QUICK_PAGES if options.quick else PAGES
    users = [User(name, ledger, services, seed, key=key, pages=pages) for name, key in keys.items()]
    archivist = Archivist("archivist", ledger, services, seed, folder=backups, most=1 if options.quick else None)
    crowd = Crowd([*users, archivist], ledger)
    services.start()
    try:
        services.wait_until_healthy()
        crowd.start()
        yield Stage(services, disk, ledger, keys[names[0]], chance, options.quick), crowd
    finally:
        for worker in crowd.workers:
            worker.over = True  # interrupted users stop retrying
        services.cut()


def _run(this: Round, stage: Stage, crowd: Crowd) -> None:
    """Inject a fault at a random moment."""
    before, after = (QUICK_BEFORE_SECONDS, QUICK_AFTER_SECONDS) if stage.quick else (BEFORE_SECONDS, AFTER_SECONDS)
    stage.services.wait_until_healthy()
    crowd.go()
    time.sleep(stage.random.uniform(*before))
    log_progress(f"{stage.ledger.round}: {this.fault(stage)}")
    time.sleep(stage.random.uniform(*after))


def _add(section: Section, ledger: Ledger, rounds: list[Round], disk: Folder, options: Options) -> None:
    done = ", ".join(f"{count:,} {what}" for what, count in sorted(ledger.acknowledged.items()))
    section.about = f"seed {options.chaos.seed}, {len(rounds)} rounds on {disk.say}; confirmed: {done}"
    found = Counter(violation.wrong for violation in ledger.violations)
    for wrong in Wrong:
        section.add(wrong, found[wrong], "", NONE)
    by_round = Counter(violation.round.partition(", ")[2] for violation in ledger.violations)
    for name, count in sorted(Counter(this.name for this in rounds).items()):
        section.add(f"{name}, rounds", count, "")
        section.add(f"{name}, violations", by_round[name], "", NONE)
    section.notes = [str(violation) for violation in ledger.violations]
    section.failed = bool(ledger.violations)
