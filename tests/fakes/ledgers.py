"""A small report with its ledger, made without a run.

Does not know what tests do to it.
"""

from typing import Any, cast

from fakes.records import claim, heading, judgement, page, question, quote, section, sentence, sha

from fathom.report.ledger import Ledger
from fathom.report.publish import publish_report
from fathom.result import ResearchResult, make_result
from fathom.state import Outline, RunConfig, RunState, Writing

SEA = "The plant makes 240 megawatts. Divers come in spring. Nobody has counted the seals."
DAM = "조력 발전소의 설비 용량은 254메가와트이다. 공사는 2011년에 끝났다."
TEXTS = {sha(SEA): SEA, sha(DAM): DAM}
QUESTION = "How strong is the plant?"


def said(words: str, text: str, name: str) -> Any:
    """A claim that is its quote, where it stands in the text."""
    return claim(words, name=name, quotes=[quote(words, text, text.index(words))])


STATE: RunState = {
    "question": QUESTION,
    "run_config": RunConfig(),
    "questions": [question(1)],
    "pages": [
        page(SEA, "https://sea.example/a", title="Sea"),
        page(DAM, "https://dam.example/b", title="댐"),
    ],
    "claims": [
        said("The plant makes 240 megawatts.", SEA, "c1"),
        said("Divers come in spring.", SEA, "c2"),
        said("조력 발전소의 설비 용량은 254메가와트이다.", DAM, "c3"),
    ],
    "judgements": [judgement(stop="sufficient", because="score 0.81 of 0.80 needed")],
    "outline": Outline(
        title="The plant", headings=[heading("c1", "c2", name="S1"), heading("c3", name="S2", title="용량")]
    ),
    "sections": [
        section(
            sentence("The plant makes 240 megawatts.", "c1"),
            sentence("Divers come in spring.", "c2"),
            sentence("The rest follows below.", status="connective"),
        ),
        section(sentence("조력 발전소의 설비 용량은 254메가와트이다.", "c3"), name="S2", title="용량"),
    ],
}


def result(**words: Any) -> ResearchResult:
    """The result of a run that ended in this state."""
    state = {**STATE, **words}
    report = publish_report(cast(Writing, state))
    ended = cast(RunState, {**state, "report": report})
    return make_result("0a1b2c3d-0000-4000-8000-000000000000", ended, 1.0)


def ledger(**changed: Any) -> Ledger:
    """Its ledger, with some fields changed by hand."""
    return Ledger.model_validate_json(result().model_copy(update=changed).model_dump_json(), extra="ignore")
