"""How well an audit finds what is wrong with a report, without a model or by one.

    python bench/audit.py [--second] [--model NAME]         reports of our own with planted faults
    python bench/audit.py --claims FILE [--sample N] [--model NAME]
                                                            lines of {"claim": …, "evidence": …, "label": …}

The first audits reports in English and Korean, in five citation styles, against pages on loopback with an
archive beside them; prints by kind which share of the planted faults is found, and which of the honest
statements is not called supported. A line of `planted.jsonl` has a sentence of a page, an honest restatement,
a faulty one and the fault; `--second` takes `planted_second.jsonl`, which nothing is tuned on, in twelve
shuffled reports. The second takes each evidence as the cited source, and prints precision, recall and F1 of
each label. The last line is one JSON object. A model is asked with the key and the address that are in the
environment.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from fathom import AuditRequest, AuditResult, DeepResearcher
from fathom.audit import AuditVerdict, CitedSource, ReadSource, ReportStatement
from fathom.audit.rules import decide_by_rules
from fathom.audit.sources import CitedText, SourcePassages
from fathom.audit.verifier import StatementVerifier
from fathom.evidence.controls import TrustLog
from fathom.llm.clients import model_clients
from fathom.llm.factory import make_outputs
from fathom.settings import load_settings
from fathom.state import Page, RunConfig
from fathom.storage import close_storage, open_storage

NUMBER, NAMES, HEDGE, CAUSE = "wrong number", "swapped names", "dropped hedge", "overstated cause"
NOTHING, DEAD, INVENTED, UNCITED = "nothing of it", "dead address", "invented address", "uncited"
KINDS = (NUMBER, NAMES, HEDGE, CAUSE, NOTHING, DEAD, INVENTED, UNCITED)
LABELS = {
    "supported": "supports",
    "partly": "partly",
    "contradicted": "refutes",
    "not in the source": "neither",
}
SECOND = "planted_second"
_STYLES = 5


@dataclass(frozen=True)
class Fact:
    """A sentence of a page, what may be said of it, and what may not."""

    page: str
    honest: str
    fault: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Topic:
    """One page and the facts on it."""

    language: str
    name: str
    title: str
    facts: tuple[Fact, ...]


def topics(name: str = "planted") -> list[Topic]:
    """All topics of a list."""
    made: dict[tuple[str, str, str], list[Fact]] = {}
    for line in Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        fact = Fact(row["page"], row["honest"], row["fault"], row["kind"])
        made.setdefault((row["language"], row["topic"], row["title"]), []).append(fact)
    return [Topic(*about, tuple(facts)) for about, facts in made.items()]


@dataclass(frozen=True)
class Said:
    """A sentence of a report, the address it cites, and the planted fault; "" if it is honest."""

    text: str
    address: str
    fault: str = ""


def report_sentences(topic: Topic, other: Topic, url: str) -> list[Said]:
    """What a report about a topic says: honest sentences and faults, each with its address."""
    page, facts = f"{url}/{topic.name}", topic.facts
    said = [Said(fact.honest, page) for fact in facts]
    said += [Said(fact.fault, page, fact.kind) for fact in facts if fact.kind]
    said += [Said(fact.honest, f"{url}/{other.name}", NOTHING) for fact in facts[:2]]
    said += [Said(facts[8].honest, f"{url}/gone/{topic.name}", DEAD)]
    said += [Said(facts[9].honest, f"{url}/busy/{topic.name}", DEAD)]
    said += [Said(facts[2].honest, f"{url}/never/{topic.name}", INVENTED)]
    said += [Said(facts[3].honest, f"http://{topic.name}-archive.invalid/history", INVENTED)]
    said += [Said(fact.honest, "", UNCITED) for fact in facts[8:10]]
    return said


def split_sentences(topic: Topic, other: Topic, url: str, number: int) -> list[Said]:
    """What the first or second report about a topic says, shuffled: never a fact and its faulty twin."""
    page, facts = f"{url}/{topic.name}", [fact for fact in topic.facts if fact.honest]
    mine, others = facts[number::2], facts[1 - number :: 2]
    said = [Said(fact.honest, page) for fact in mine]
    said += [Said(fact.fault, page, fact.kind) for fact in others if fact.kind]
    said += [Said(others[0].honest, f"{url}/{other.name}", NOTHING), Said(others[-1].honest, "", UNCITED)]
    gone = "gone" if number else "busy"
    said += [Said(others[1].honest, f"{url}/{gone}/{topic.name}", DEAD)]
    invented = f"{url}/never/{topic.name}" if number else f"http://{topic.name}-archive.invalid/history"
    said += [Said(others[2].honest, invented, INVENTED)]
    return sorted(said, key=lambda one: hashlib.sha256(one.text.encode()).hexdigest())


def write_report(topic: Topic, said: Sequence[Said], style: int) -> str:
    """The report in one of five citation styles."""
    cited = dict.fromkeys(one.address for one in said if one.address)
    keys = {address: number for number, address in enumerate(cited, 1)}
    lines = [f"# {topic.title}", ""]
    for one in said:
        bare, stop = one.text.rstrip("."), "."
        mark = _mark(keys.get(one.address, 0), one.address, style) if one.address else ""
        lines += [f"{bare}{mark}{stop}" if style != 3 else f"{one.text}{mark}", ""]
    title = "출처" if topic.language == "ko" else "Sources"
    if style in (0, 2):
        lines += [f"## {title}", "", *(f"[{n}] {address}" for address, n in keys.items())]
    if style == 3:
        lines += [f"[^{n}]: {address}" for address, n in keys.items()]
    return "\n".join(lines) + "\n"


def _mark(number: int, address: str, style: int) -> str:
    marks = (
        f" [{number}]",
        f" ([{number}]({address}))",
        f"【{number}†source】",
        f"[^{number}]",
        f" ({address})",
    )
    return marks[style]


class _Pages(BaseHTTPRequestHandler):
    """The topics' pages, pages that are gone or busy, and the archive's API."""

    protocol_version = "HTTP/1.1"
    known: ClassVar = {topic.name: topic for topic in [*topics(), *topics(SECOND)]}

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        first, _, name = parts.path.strip("/").partition("/")
        if parts.path == "/wayback/available":
            self._send(200, json.dumps(self._archived(parse_qs(parts.query)["url"][0])).encode())
        elif first in self.known:
            self._send(200, _page(self.known[first]))
        elif first == "web":
            self._send(200, _page(self.known[name.rpartition("/")[2]]))
        else:
            self._send(403 if first == "busy" else 404, b"no")

    def _archived(self, address: str) -> dict[str, object]:
        if "/gone/" not in address:
            return {"archived_snapshots": {}}
        here = f"http://{self.headers['Host']}/web/20200101000000/{address}"
        return {"archived_snapshots": {"closest": {"available": True, "url": here, "status": "200"}}}

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def _page(topic: Topic) -> bytes:
    body = "".join(f"<p>{escape(fact.page)}</p>" for fact in topic.facts)
    head = f'<meta charset="utf-8"><title>{escape(topic.title)}</title>'
    article = f"<article><h1>{escape(topic.title)}</h1>{body}</article>"
    return f"<html><head>{head}</head><body>{article}</body></html>".encode()


def is_found(said: Said, verdict: AuditVerdict, source: ReadSource | None) -> bool:
    """Whether the planted fault of a sentence was found."""
    if said.fault == DEAD:
        return source is not None and source.status in {"archived", "unreachable"}
    if said.fault == INVENTED:
        return verdict.verdict == "source invented"
    if said.fault == UNCITED:
        return verdict.verdict == "uncited"
    if said.fault == NOTHING:
        return verdict.verdict in {"not in the source", "source invented"}
    return verdict.verdict in {"contradicted", "partly", "not in the source"}


def count_report(said: Sequence[Said], result: AuditResult, counts: Counter[tuple[str, str]]) -> None:
    """Count what was found in one report, in both the language and the kind; what was set apart is missed."""
    sources = {one.source.id: one for one in result.sources}
    stated = {(one.text.rstrip("."), _address(one.cites, sources)): one.id for one in result.statements}
    verdicts = {one.statement: one for one in result.verdicts}
    for one in said:
        verdict = verdicts.get(stated.get((one.text.rstrip("."), one.address), ""))
        source = next((found for found in result.sources if found.source.address == one.address), None)
        is_right = verdict is not None and (
            is_found(one, verdict, source) if one.fault else verdict.verdict == "supported"
        )
        for name in (one.fault or "honest", f"{result.language} {'faults' if one.fault else 'honest'}"):
            counts[name, "all"] += 1
            counts[name, "right"] += is_right
        if not is_right:
            told = f"{verdict.verdict} ({verdict.reason})" if verdict else "set apart"
            print(f"  {one.fault or 'honest'}: {told}: {one.text}")


def _address(cites: Sequence[str], sources: Mapping[str, ReadSource]) -> str:
    return sources[cites[0]].source.address if cites and cites[0] in sources else ""


def plan_reports(name: str, url: str) -> list[tuple[list[Said], str]]:
    """What each report says, and its text."""
    known = topics(name)
    beside = [known[(n + 1) % 3 + n // 3 * 3] for n in range(len(known))]
    pairs = list(zip(known, beside, strict=True))
    if name == SECOND:
        said = [(one, split_sentences(one, other, url, n)) for one, other in pairs for n in (0, 1)]
    else:
        said = [(one, report_sentences(one, other, url)) for one, other in pairs]
    return [(sentences, write_report(one, sentences, n % _STYLES)) for n, (one, sentences) in enumerate(said)]


async def audit_planted(model: str, name: str, out: Path | None) -> dict[str, float]:
    """Audit every report, and print what was found."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    Thread(target=server.serve_forever, daemon=True).start()
    url, counts = f"http://127.0.0.1:{server.server_port}", Counter[tuple[str, str]]()
    settings = load_settings(allow_private=True, archive_url=url, respect_robots=False)
    run_config = RunConfig(model=model) if model else RunConfig(model="none")
    plans = plan_reports(name, url)
    async with DeepResearcher(settings) as researcher:
        work = (
            researcher.audit(AuditRequest(report="-", body=text.encode(), run_config=run_config))
            for _, text in plans
        )
        results = await asyncio.gather(*work)
    for number, ((said, _), result) in enumerate(zip(plans, results, strict=True), 1):
        count_report(said, result, counts)
        if out:
            (out / f"{number:02}.json").write_text(result.model_dump_json(indent=1), "utf-8")
    server.shutdown()
    server.server_close()
    print(f"decided by {results[0].decided_by}")
    controls = [(tally.shown, tally.missed) for result in results for tally in result.controls]
    print(f"controls {sum(n for n, _ in controls)}, missed {sum(n for _, n in controls)}")
    for name in (*KINDS, "honest", "en faults", "ko faults", "en honest", "ko honest"):
        print(f"{name:18} {counts[name, 'right']:3} of {counts[name, 'all']:3}")
    planted = sum(counts[kind, "all"] for kind in KINDS)
    found = sum(counts[kind, "right"] for kind in KINDS)
    false_alarms = 1 - counts["honest", "right"] / counts["honest", "all"]
    return {"planted": planted, "found": found, "false_alarms": round(false_alarms, 3)}


def read_lines(path: Path, sample: int) -> list[dict[str, str]]:
    """The lines of the file; with a sample, so many of all labels together, by the hash of the line."""
    lines: list[dict[str, str]] = [json.loads(row) for row in path.read_text("utf-8").splitlines() if row]
    if not sample:
        return lines
    labels = sorted({line["label"] for line in lines})
    ranked = sorted(lines, key=lambda line: hashlib.sha256(f"{line}".encode()).hexdigest())
    each = -(-sample // len(labels))
    return [line for label in labels for line in [one for one in ranked if one["label"] == label][:each]]


def _as_cited(number: int, line: dict[str, str]) -> tuple[ReportStatement, SourcePassages]:
    key, sha = f"s{number}", hashlib.sha256(f"{number} {line['evidence']}".encode()).hexdigest()
    page = Page(sha=sha, address="", title="", how="text", chars=len(line["evidence"]), fetched="")
    about = ReadSource(source=CitedSource(id=key), status="read", page=sha)
    statement = ReportStatement(id=f"{number}", text=line["claim"], kind="fact", cites=[key])
    return statement, SourcePassages(CitedText(about, page, line["evidence"]))


async def audit_claims(lines: Sequence[dict[str, str]], model: str) -> dict[str, float]:
    """Take every evidence as the cited source, and compare the verdicts with the labels."""
    cited = [_as_cited(number, line) for number, line in enumerate(lines)]
    if not model:
        verdicts = [decide_by_rules(statement, [source]) for statement, source in cited]
    else:
        settings = load_settings()
        output = make_outputs(settings, RunConfig(model=model))["verify"]
        sources = {statement.cites[0]: source for statement, source in cited}
        trust = TrustLog(open_storage(settings.database))
        async with model_clients():
            verdicts = await StatementVerifier(output, trust, sources).verify([one for one, _ in cited])
        await close_storage(settings.database)
    pairs = Counter((line["label"], LABELS[v.verdict]) for line, v in zip(lines, verdicts, strict=True))
    return measure(pairs)


def measure(pairs: Counter[tuple[str, str]]) -> dict[str, float]:
    """Precision, recall and F1 of each label, from pairs of label and verdict; and what is right."""
    figures: dict[str, float] = {}
    for label in LABELS.values():
        right = pairs[label, label]
        precision = right / max(1, sum(n for (_, said), n in pairs.items() if said == label))
        recall = right / max(1, sum(n for (true, _), n in pairs.items() if true == label))
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        row = {said: pairs[label, said] for said in LABELS.values()}
        print(f"{label:9} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  said {row}")
        figures |= {f"{label}_precision": precision, f"{label}_recall": recall, f"{label}_f1": f1}
    figures["accuracy"] = sum(pairs[label, label] for label in LABELS.values()) / max(1, pairs.total())
    return {name: round(value, 3) for name, value in figures.items()}


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description="How well an audit finds what is wrong.")
    parser.add_argument("--claims", type=Path, help="lines of claim, evidence and label")
    parser.add_argument("--sample", type=int, default=0, help="so many of the lines, of all labels alike")
    parser.add_argument("--second", action="store_true", help="the list that nothing is tuned on")
    parser.add_argument("--out", type=Path, help="a folder for the audits as JSON")
    parser.add_argument("--model", default="")
    given = parser.parse_args(arguments)
    if given.claims and not given.claims.is_file():
        sys.exit(f"there is no file {given.claims}")
    if given.claims:
        say(json.dumps(asyncio.run(audit_claims(read_lines(given.claims, given.sample), given.model))))
        return
    name = SECOND if given.second else "planted"
    say(json.dumps(asyncio.run(audit_planted(given.model, name, given.out))))


if __name__ == "__main__":
    main()
