"""The server that holds the mirror: does it answer, is it new enough, will it keep what it is given?"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from valor import server
from valor.doctor.finding import Finding, info, problem, warning
from valor.doctor.patient import Patient
from valor.errors import ErrorReply
from valor.programs import OLDEST
from valor.wire import Connection

_PATIENCE = 2.0  # seconds for one answer
_FULL = 0.9  # of the memory that it may take


def check(patient: Patient) -> Iterator[Finding]:
    """What ``valor server status`` says, judged."""
    status = patient.status
    patient.measured["server"] = {
        "running": status.running,
        "server": status.server,
        "version": status.version,
        "address": status.address,
        "own": status.own,
        "cluster": status.cluster,
        "memory": status.memory,
    }
    if patient.asleep:
        yield info("valor's own server is not running; what needs it starts it", status.address)
    elif not status.running and status.own:
        yield problem(
            f"valor's own server does not answer ({status.reason})",
            status.address,
            "run `valor server stop`, then `valor sync`",
            "server",
        )
    elif not status.running:
        yield problem(
            f"the server that is named does not answer ({status.reason}), so nothing is recalled",
            status.address,
            "start it, or mend VALOR_REDIS_URL or redis_url; without them valor starts its own",
        )
    else:
        yield from _too_old(patient)
        yield from _memory(patient)


def _too_old(patient: Patient) -> Iterator[Finding]:
    status = patient.status
    found = re.match(r"(\d+)\.(\d+)", status.version)
    name = status.server.capitalize()
    if found is None or name not in OLDEST:
        yield info("it does not say which version it is; valor needs Redis 6.2 or Valkey 7.2", status.address)
    elif (int(found[1]), int(found[2])) < OLDEST[name]:
        least = ".".join(map(str, OLDEST[name]))
        yield problem(f"{name} {status.version} is too old", status.address, f"use {least} or newer")


def _memory(patient: Patient) -> Iterator[Finding]:
    place = server.address(patient.workspace.config)
    try:
        with Connection(place, time.monotonic() + _PATIENCE) as connection:
            said = connection.call("INFO", "memory").decode("utf-8", "replace")
    except ErrorReply:  # a user who may not ask that
        return
    facts = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
    policy, most = facts.get("maxmemory_policy", ""), int(facts.get("maxmemory", "0"))
    patient.measured["server"] |= {"maxmemory": most, "maxmemory_policy": policy}
    if policy not in ("", "noeviction"):
        when = "once it is full" if most else "as soon as it gets a maxmemory"
        yield (problem if most else warning)(
            f"its maxmemory-policy is {policy}: {when} it drops parts of the mirror, and recall misses "
            "what it should find without a word",
            place,
            "give valor a server of its own with maxmemory-policy noeviction",
        )
    if most and int(facts.get("used_memory", "0")) > most * _FULL:
        yield warning(
            f"it uses {int(facts['used_memory']):,} of {most:,} bytes: a sync may find no room",
            place,
            "raise VALOR_SERVER_MEMORY and run `valor server stop`, or give the named server more",
        )
