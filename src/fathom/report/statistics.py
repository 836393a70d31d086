"""What a run knows about itself, as tables: scores, rejections, controls, calls, costs, failures.

Nothing of it stands in the report, which is for readers; all of it is in the ledger too. Does not know files.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from fathom.budget import SEARCH_ROLE
from fathom.budget.prices import add_up_costs
from fathom.report.formats.markdown import escape_markdown, markdown_table, name_address
from fathom.report.listings import is_by_words, messages_of
from fathom.report.publish import describe_result
from fathom.state import ControlTally, Cost, Finding, Judgement, RunState, Section, SubQuestion, Tag
from fathom.text.messages import Messages


def certainty_table(
    findings: Sequence[Finding], questions: Sequence[SubQuestion], words: Messages
) -> list[str]:
    """Of what was found about each part of the question, how much is how sure: a table and its legend."""
    tags: tuple[Tag, ...] = tuple(tag for tag in get_args(Tag) if any(f.tag == tag for f in findings))
    rows = []
    for question in questions:
        counts = Counter(f.tag for f in findings if f.question == question.id)
        if counts:
            rows.append([escape_markdown(question.text), *(str(counts[tag] or "") for tag in tags)])
    if not rows:
        return []
    legend = " ".join(f"{words.name('tag', tag)}: {words.name('tag_meaning', tag)}." for tag in tags)
    return [
        markdown_table([words("statistics.part"), *(words.name("tag", tag) for tag in tags)], rows),
        legend,
    ]


_CELL_CHARS = 300


def render_statistics(state: RunState) -> str:
    """The page; also while the run goes on."""
    words = messages_of(state)
    title = f"# {words('statistics.title')}: {escape_markdown(state.get('question', ''))}"
    if not state.get("judgements"):
        return f"{title}\n\n{words('statistics.nothing')}\n"
    blocks = [title, *_overview(state, words), *_rounds(state["judgements"], words), *_checks(state, words)]
    sure = certainty_table(state.get("findings", []), state.get("questions", []), words)
    if sure and not is_by_words(state):
        blocks += [f"## {words('statistics.sure')}", *sure]
    blocks += [
        *_rejected_claims(state, words),
        *_rejected_sentences(_sections(state), words),
        *_controls(state.get("control_tallies", []), words),
        *_calls(state, words),
        *_costs(state.get("costs", []), words),
        *_searches(state, words),
        *_failures(state, words),
    ]
    return "\n\n".join(blocks) + "\n"


def _sections(state: RunState) -> list[Section]:
    report = state.get("report")
    return report.sections if report else state.get("sections", [])


def _overview(state: RunState, words: Messages) -> Iterator[str]:
    report, last = state.get("report"), state["judgements"][-1]
    spent = add_up_costs(state.get("costs", []))
    rows = [
        [words("statistics.status"), _status(state, words)],
        [words("statistics.stopped"), _stop(last, words)],
        [words("statistics.rounds"), str(last.round)],
        [words("statistics.queries"), str(len(state.get("asked", [])))],
        [words("statistics.pages"), str(len(state.get("pages", [])))],
        [words("statistics.claims"), str(len(state.get("claims", [])))],
        [words("statistics.findings"), str(len(state.get("findings", [])))],
        *([] if last.is_by_words else [[words("statistics.score"), f"{last.overall:.2f}"]]),
        [words("statistics.spent"), f"{spent.usd:.4f}"],
    ]
    if report:
        rows += [
            [words("statistics.cited"), str(len(report.citations))],
            [words("statistics.sentences"), str(sum(len(part.sentences) for part in report.sections))],
            [words("statistics.words"), str(len(report.markdown.split()))],
        ]
    yield f"## {words('statistics.overview')}"
    yield markdown_table(["", ""], rows)


def _status(state: RunState, words: Messages) -> str:
    report = state.get("report")
    if report is None:
        return words("statistics.going_on")
    return describe_result(state, report.sections, report.status, words, report.kind)


def _stop(judgement: Judgement, words: Messages) -> str:
    if not judgement.stop:
        return words("statistics.going_on")
    return f"{words.name('rule', judgement.stop)} ({escape_markdown(words.because(judgement))})"


def _rounds(judgements: Sequence[Judgement], words: Messages) -> Iterator[str]:
    names = ("round", "claims", "new", "pages", "coverage", "diversity", "quality", "freshness", "score")
    columns = [*(words(f"statistics.{name}") for name in (*names, "confidence", "spent", "held"))]
    rows = []
    for j in judgements:
        counts = [j.round, j.claims, j.new_claims, j.pages]
        scores = [j.coverage, j.diversity, j.quality, j.freshness, j.overall, j.confidence]
        held = words.name("rule", j.held or j.waived)
        rows.append([*map(str, counts), *(f"{score:.2f}" for score in scores), f"{j.spent_usd:.4f}", held])
    yield f"## {words('statistics.rounds')}"
    yield markdown_table(columns, rows)


def _checks(state: RunState, words: Messages) -> Iterator[str]:
    """What the question needs of its evidence, and what the last judgement found missing."""
    last = state["judgements"][-1]
    if last.checks:
        rows = [
            [
                check.name,
                words("statistics.yes" if check.is_passed else "statistics.no"),
                escape_markdown(check.why),
            ]
            for check in last.checks
        ]
        yield f"## {words('statistics.checks')}"
        yield markdown_table(
            [words("statistics.check"), words("statistics.passed"), words("statistics.why")], rows
        )
    if last.gaps:
        yield f"## {words('statistics.gaps')}"
        columns = [words("statistics.gap"), words("statistics.priority"), words("statistics.query")]
        yield markdown_table(
            columns,
            [
                [escape_markdown(g.description), g.priority, escape_markdown(g.suggested_query)]
                for g in last.gaps
            ],
        )


def _rejected_claims(state: RunState, words: Messages) -> Iterator[str]:
    """What was refused, by reason and page; one that was refused twice with its words and the verifier's."""
    titles = {page.sha: page.title or name_address(page.address) for page in state.get("pages", [])}
    rows = [
        [
            words.reason(entry.why),
            str(entry.count),
            escape_markdown(titles.get(entry.page, entry.page[:12])),
            escape_markdown(entry.statement)[:_CELL_CHARS],
            escape_markdown(entry.reason)[:_CELL_CHARS],
        ]
        for entry in state.get("rejected", [])
        if not entry.section
    ]
    if rows:
        columns = [words(f"statistics.{name}") for name in ("why", "count", "page", "statement", "reason")]
        yield f"## {words('statistics.rejected_claims')}"
        yield markdown_table(columns, rows)


def _controls(tallies: Sequence[ControlTally], words: Messages) -> Iterator[str]:
    """How many statements of known truth the verifiers were shown among the others, and got wrong."""
    shown, missed = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for tally in tallies:
        place = (tally.verifier, words.name("control", tally.kind), tally.language)
        shown[place] += tally.shown
        missed[place] += tally.missed
    if shown:
        names = ("verifier", "control", "language", "shown", "missed")
        yield f"## {words('statistics.controls')}"
        yield markdown_table(
            [words(f"statistics.{name}") for name in names],
            [
                [*map(escape_markdown, place), str(shown[place]), str(missed[place])]
                for place in sorted(shown)
            ],
        )


def _rejected_sentences(sections: Sequence[Section], words: Messages) -> Iterator[str]:
    marked = words("statistics.marked")
    rows = [
        [
            escape_markdown(part.title),
            escape_markdown(s.text)[:_CELL_CHARS],
            words.name("fault", s.fault),
            escape_markdown(s.why)[:_CELL_CHARS],
        ]
        for part in sections
        for s in part.rejected
    ]
    rows += [
        [
            escape_markdown(part.title),
            escape_markdown(s.text)[:_CELL_CHARS],
            f"{words.name('fault', s.fault)} ({marked})",
            escape_markdown(s.why)[:_CELL_CHARS],
        ]
        for part in sections
        for s in part.sentences
        if s.status == "unsupported"
    ]
    rewritten = sum(part.rewritten for part in sections)
    if rows or rewritten:
        yield f"## {words('statistics.rejected_sentences')}"
    if rows:
        yield markdown_table(
            [words(f"statistics.{name}") for name in ("section", "statement", "fault", "why")], rows
        )
    if rewritten:
        yield words("statistics.rewritten", count=rewritten)


def _calls(state: RunState, words: Messages) -> Iterator[str]:
    """How often each role's answers were had at once, and how often only by another way or by repair."""
    counts = Counter((cost.role, cost.strategy) for cost in state.get("costs", []) if cost.strategy)
    if counts:
        columns = [words("statistics.role"), words("statistics.way"), words("statistics.number")]
        yield f"## {words('statistics.calls')}"
        yield markdown_table(
            columns, [[role, way, str(count)] for (role, way), count in sorted(counts.items())]
        )


def _costs(costs: Sequence[Cost], words: Messages) -> Iterator[str]:
    if not costs:
        return
    engines = [cost for cost in costs if cost.role == SEARCH_ROLE]
    models = [cost for cost in costs if cost.role != SEARCH_ROLE]
    rows = [
        *_cost_rows(words("statistics.role"), costs, lambda cost: cost.role),
        *_cost_rows(words("statistics.model"), models, lambda cost: cost.model),
        *_cost_rows(words("statistics.engine"), engines, lambda cost: cost.model),
        *_cost_rows(words("statistics.node"), costs, lambda cost: cost.node),
        *_cost_rows(words("statistics.round"), costs, lambda cost: str(cost.round)),
        *_cost_rows(words("statistics.total"), costs, lambda _: ""),
    ]
    names = ("by", "name", "number", "tokens_in", "tokens_out", "reused", "usd", "saved")
    yield f"## {words('statistics.costs')}"
    yield markdown_table([words(f"statistics.{name}") for name in names], rows)


def _cost_rows(by: str, costs: Sequence[Cost], name_of: Callable[[Cost], str]) -> Iterator[list[str]]:
    for name in dict.fromkeys(name_of(cost) for cost in costs):
        own = [cost for cost in costs if name_of(cost) == name]
        spent = add_up_costs(own)
        counts = [len(own) - spent.saved_calls, spent.tokens_in, spent.tokens_out, spent.saved_calls]
        money = [f"{spent.usd:.4f}", f"{spent.saved_usd:.4f}"]
        yield [by, escape_markdown(name), *(f"{count:,}" for count in counts), *money]


def _searches(state: RunState, words: Messages) -> Iterator[str]:
    rows = [[str(q.round), q.family, escape_markdown(q.text)] for q in state.get("asked", [])]
    if rows:
        columns = [words("statistics.round"), words("statistics.family"), words("statistics.query")]
        yield f"## {words('statistics.searches')}"
        yield markdown_table(columns, rows)


def _failures(state: RunState, words: Messages) -> Iterator[str]:
    rows = [
        [
            words.place(failure.where),
            f"`{name_address(words.failed(failure))}`",
            escape_markdown(words.why_failed(failure)),
        ]
        for failure in state.get("failures", [])
    ]
    if rows:
        columns = [words("statistics.where"), words("statistics.what"), words("statistics.why")]
        yield f"## {words('statistics.failures')}"
        yield markdown_table(columns, rows)
