"""Lines in, live view out.

The fold is a function of the *set* of lines: git's union merge may reorder and repeat them, and
the view stays the same.

* Two lines with one id: the later wins (timestamp, then bytes); both are reported.
* A supersession marks the ids it lists, in favour of ``by`` or, ``by`` being null, as a retraction.
  An observation that carries ``supersedes`` marks in favour of itself. A reinstatement voids the
  mark (or the observation's marking) whose id it names in ``of``, for good: no reinstatement of a
  reinstatement brings it back, a new mark does.
* A mark whose successor is not in the log marks nothing: every superseded id leads to a live
  survivor or to a retraction. What was replaced by something that was retracted later stays hidden.
* Marks that meet in a merge may point at each other. In such a circle the oldest observation
  (timestamp, then id) survives, unless the circle has a way out or one of it is retracted.
* A survivor is shown with the tags and references that marks hand on to it (``valor.inherit``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from valor import inherit, record
from valor.inherit import Inheritance
from valor.log import Bad, Line
from valor.record import MARKS, REINSTATEMENT, Record


class Conflict:
    """One id on lines of different content: their numbers, the winner's last."""

    __slots__ = ("id", "numbers")

    def __init__(self, id_: str, numbers: list[int]) -> None:
        self.id = id_
        self.numbers = numbers


class View:
    """The observations of one log.

    ``observations`` holds every observation by id, live or not, in the order of the file;
    ``marks`` every mark by id; ``bad`` the unreadable lines; ``conflicts`` the ids that stand on
    lines of different content; ``total`` counts the lines read. ``superseded`` are the ids that are
    hidden, ``marked_by`` says by which marks, ``retracted`` those without successor; ``successors`` is
    what replaced each, as it was marked, circles included; ``named`` are the ids that marks speak of, be
    they here or not. ``inherited`` has what live ones take over, by id.
    """

    def __init__(self) -> None:
        self.observations: dict[str, Line] = {}
        self.marks: dict[str, Line] = {}
        self.bad: list[Bad] = []
        self.conflicts: list[Conflict] = []
        self.total = 0
        self.successors: dict[str, list[str]] = {}
        self.retracted: set[str] = set()
        self.superseded: set[str] = set()
        self.marked_by: dict[str, list[str]] = {}
        self.named: set[str] = set()
        self.inherited: dict[str, Inheritance] = {}

    def is_live(self, id_: str) -> bool:
        """Whether the observation is in the log and neither superseded nor retracted."""
        return id_ in self.observations and id_ not in self.superseded

    def live(self) -> Iterator[Line]:
        """The live observations, in the order of the file, private ones included."""
        hidden = self.superseded
        for id_, line in self.observations.items():
            if id_ not in hidden:
                yield line

    def survivor(self, id_: str) -> str | None:
        """The live id that a superseded one leads to; None where its chain ends in a retraction."""
        seen = {id_}
        queue = [id_]
        ends: list[str] = []
        while queue:
            at = queue.pop()
            if self.is_live(at):
                ends.append(at)
                continue
            fresh = [next_ for next_ in self.successors.get(at, ()) if next_ not in seen]
            seen.update(fresh)
            queue += fresh
        return max(ends, key=self.age) if ends else None

    def survivors(self) -> dict[str, str]:
        """``survivor`` of every superseded id that has one, at the price of one walk."""
        before: dict[str, list[str]] = {}
        for target, successors in self.successors.items():
            if target in self.superseded:
                for by in successors:
                    before.setdefault(by, []).append(target)
        found: dict[str, str] = {}
        for end in sorted(filter(self.is_live, before), key=self.age, reverse=True):
            queue = [end]
            while queue:
                fresh = [target for target in before.get(queue.pop(), ()) if target not in found]
                found.update(dict.fromkeys(fresh, end))
                queue += fresh
        return found

    def shown(self, line: Line) -> Record:
        """The observation as readers are to see it: its record, and where it inherits, a copy with that."""
        data = line.record
        taken = self.inherited.get(record.identifier(data)) if self.inherited else None
        return inherit.extended(data, taken) if taken else data

    def age(self, id_: str) -> tuple[float, str]:
        """The order of observations in time: (unix seconds, id)."""
        return record.moment(self.observations[id_].record), id_


def fold(lines: Iterable[Line | Bad], keep: Callable[[Record], bool] | None = None) -> View:
    """The view of these lines, whatever their order and however often they repeat.

    Where ``keep`` is given, lines whose record it refuses keep their bytes alone (``Line.held``).
    """
    view = View()
    observations, marks = view.observations, view.marks
    clashes: dict[str, list[Line]] = {}
    inline: list[str] = []
    for line in lines:
        view.total += 1
        if type(line) is not Line:
            view.bad.append(line)  # type: ignore[arg-type]  # the only other kind; isinstance costs more
            continue
        data = line.held or line.record
        id_ = data.get("id")
        if type(id_) is not str or not id_:
            id_ = record.identifier(data)
        is_mark = data.get("type") in MARKS
        known = observations.get(id_) or (marks.get(id_) if marks else None)
        if known is None:
            (marks if is_mark else observations)[id_] = line
        elif known.raw != line.raw and _content(known.record) != _content(data):
            clashes.setdefault(id_, [known]).append(line)
        if "supersedes" in data and not is_mark:
            inline.append(id_)
        if keep is not None and not is_mark and not keep(data):
            line.held = None
    for id_, rivals in clashes.items():
        _settle(view, id_, rivals)
    marking = [line.record for line in marks.values()]
    marking += [observations[id_].record for id_ in set(inline) if id_ in observations]
    if marking:
        _apply(view, marking)
    return view


def _content(data: Record) -> bytes:
    """What the line says, however its keys are ordered. Dictionaries compare too kindly: 1 is True."""
    return record.dumps(data, sort_keys=True)


def _settle(view: View, id_: str, rivals: list[Line]) -> None:
    """Keep the later of the lines that share an id, and remember that they do."""
    rivals.sort(key=lambda line: (record.moment(line.record), _content(line.record)))
    winner = rivals[-1]
    view.observations.pop(id_, None)
    view.marks.pop(id_, None)
    (view.marks if winner.record.get("type") in MARKS else view.observations)[id_] = winner
    view.conflicts.append(Conflict(id_, [line.number for line in rivals]))


def _apply(view: View, marking: list[Record]) -> None:
    """Turn marks into successors, and these into what is hidden."""
    void = {record.text(mark, "of") for mark in marking if mark.get("type") == REINSTATEMENT}
    for mark in marking:
        view.named.update(
            record.texts(mark, "supersedes"), (record.text(mark, "by"), record.text(mark, "of"))
        )
    view.named.discard("")
    edges: dict[str, set[str]] = {}
    for mark in marking:
        id_ = record.identifier(mark)
        if id_ in void or mark.get("type") == REINSTATEMENT:
            continue
        inline = mark.get("type") not in MARKS
        # As text, like the ids it names: what is no id at all (a list, say) is one that is not here.
        by = id_ if inline else None if mark.get("by") is None else record.text(mark, "by")
        for target in dict.fromkeys(record.texts(mark, "supersedes")):
            if target not in view.observations or target == by:
                continue
            if by is None:
                view.retracted.add(target)
            elif by in view.observations:
                edges.setdefault(target, set()).add(by)
            else:
                continue
            view.marked_by.setdefault(target, []).append(id_)
    view.successors = {target: sorted(by) for target, by in edges.items()}
    view.superseded = view.retracted | set(edges)
    for circle in _circles(view.successors):
        leaves = any(by not in circle for id_ in circle for by in view.successors[id_])
        if not leaves and not circle & view.retracted:
            view.superseded.discard(min(circle, key=view.age))
    leaving = [one for one in marking if inherit.FIELD in one and record.identifier(one) not in void]
    if leaving:
        ends = view.survivors()
        view.inherited = inherit.inherited(
            leaving, lambda id_: id_ if view.is_live(id_) else ends.get(id_), view.observations
        )


def _circles(successors: dict[str, list[str]]) -> list[set[str]]:
    """The groups of ids that supersede one another (strongly connected components larger than
    one; Tarjan 1972, with an explicit stack so that a long chain cannot exhaust the interpreter's)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    circles: list[set[str]] = []
    for root in successors:
        if root in order:
            continue
        work = [(root, iter(successors[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        waiting.add(root)
        while work:
            id_, rest = work[-1]
            for next_ in rest:
                if next_ not in order:
                    order[next_] = low[next_] = len(order)
                    stack.append(next_)
                    waiting.add(next_)
                    work.append((next_, iter(successors.get(next_, ()))))
                    break
                if next_ in waiting:
                    low[id_] = min(low[id_], order[next_])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[id_])
                if low[id_] == order[id_]:
                    group = set()
                    while True:
                        member = stack.pop()
                        waiting.discard(member)
                        group.add(member)
                        if member == id_:
                            break
                    if len(group) > 1:
                        circles.append(group)
    return circles
