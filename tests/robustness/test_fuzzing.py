"""Whatever comes from outside, a reader gets a record, a verdict or one sentence, never a traceback.

Answers of models, statements and quotes, ledgers, documents and requests, all damaged at random; the same
cases in every run.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import ledgers
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from fathom.errors import BadInput, Unreadable
from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.checks.strict import find_flaws_by_kind
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.grounding import QuoteFinder
from fathom.llm.answer_parsing import UnusableAnswer, parse_answer
from fathom.llm.roles import answer_forms
from fathom.reading.parsers import parse_document
from fathom.report.ledger import read_ledger
from fathom.report.verify import verify_report
from fathom.request import ResearchRequest
from fathom.runs.verify import stored_fates
from fathom.state import RunConfig

FORMS = [
    form
    for form in vars(answer_forms).values()
    if isinstance(form, type) and issubclass(form, BaseModel) and form.__name__.endswith("Answer")
]
# Words with figures, dates, quotation marks and both languages: what the rules look for.
_TELLING = """
a the not no may only from to 3 5 0.5% 12,000 2024 2024년 3월 1일 1조 2천억 원 25만 4,500명 $3 million half
third of two-thirds twenty-five first doubled 절반 세 명 열두 번 4분의 1 last year 지난해 Q3 1분기 rose fell
because 때문에 않았다 아니라 최대 약 (주) “so” - * | # ` ``` [1] ① ² ㎞ ％ A. U.S. Kim 김 e\u0301 \u200b
"""
WORDS = st.sampled_from(_TELLING.split())
TEXT = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=120))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
PAGES = {
    "a.html": "<html><head><title>T</title></head><body><h1>A</h1><p>One <b>two</b>.</p><table><tr><td>1</td>"
    "</tr></table><ul><li>x</li></ul></body></html>",
    "a.md": "---\ntitle: T\n---\n# A {#a}\n\nOne *two* [three](b).[^1]\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    "```\ncode\n```\n\n[^1]: note\n",
    "a.rst": "A\n=\n\n.. note:: One\n\n:ref:`two <b>` and ``code``::\n\n  x\n\n- y\n",
    "a.txt": "One line\nof words.\n\n- item\n- item\n\n1. first\n",
    "a.py": '"""Module."""\n\ndef f(a: int) -> int:\n    """Double.\n\n    Args:\n        a: what\n    """\n',
    "METADATA": "Metadata-Version: 2.1\nName: a\nSummary: b\nDescription-Content-Type: text/markdown\n\nA\n",
    "a.xml": '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><item><title>I</title>'
    "<description>One.</description></item></channel></rss>",
}


def damaged(value: Any, data: st.DataObject) -> Any:
    """The value with one part of it, wherever it lies, replaced, repeated or taken away."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 3)):
        name = data.draw(st.sampled_from(sorted(value)))
        if not data.draw(st.integers(0, 4)):
            return {key: kept for key, kept in value.items() if key != name}
        return {**value, name: damaged(value[name], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 3)):
        at = data.draw(st.integers(0, len(value) - 1))
        if not data.draw(st.integers(0, 4)):
            return [*value, value[at]]
        return [*value[:at], damaged(value[at], data), *value[at + 1 :]]
    if isinstance(value, str) and data.draw(st.booleans()):
        return data.draw(TEXT)
    if isinstance(value, int) and data.draw(st.booleans()):
        return data.draw(st.integers())
    return data.draw(VALUES)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@settings(max_examples=25)
@given(st.data())
def test_an_answer_of_any_shape_is_a_form_or_is_none(form: type[BaseModel], data: st.DataObject) -> None:
    lists = {name: [data.draw(VALUES)] for name in form.model_fields}
    answer = data.draw(st.sampled_from([data.draw(VALUES), lists, damaged(lists, data)]))
    text = json.dumps(answer, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(text)))
    for words in (text, text[:cut], f"{text[cut:]}{text}", f"<think>{text[:cut]}</think>{text}"):
        try:
            assert isinstance(parse_answer(words, form), form)
        except UnusableAnswer as error:
            assert str(error)


@FEW
@given(TEXT, TEXT, TEXT)
def test_the_rules_of_evidence_take_any_text(statement: str, quote: str, around: str) -> None:
    passage = Passage((quote,), title=around[:20], date=around[:10], around=around)
    assert all(words in statement or words for words in find_underived(statement, passage))
    assert all(suspicion.note for suspicion in find_suspicions(statement, passage))
    find_flaws_by_kind(statement, [quote])


@FEW
@given(TEXT)
@example("2024년 3월 1일 절반 세 명 4분의 1 $3 million 25만 4,500명")
@example("half a third of two-thirds ² ① ㎞ ％")
def test_a_statement_that_is_its_quote_is_never_refused(words: str) -> None:
    passage = Passage((words,))
    assert find_underived(words, passage) == []
    assert find_suspicions(words, passage) == []


@FEW
@given(TEXT, TEXT, TEXT)
def test_a_quote_that_is_found_is_the_pages_own_text(before: str, words: str, after: str) -> None:
    text = f"{before}{words}{after}"
    page = QuoteFinder("0" * 64, text)
    if found := page.find(words):
        whole = page.extend_to_sentence(found)
        assert text[found.start : found.end] == found.text
        assert text[whole.start : whole.end] == whole.text
        assert whole.start <= found.start <= found.end <= whole.end


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_ledger_gets_a_verdict_or_one_sentence(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "report.json"
    body = json.dumps(damaged(json.loads(ledgers.result().model_dump_json()), data))
    path.write_text(body[: data.draw(st.sampled_from([len(body), len(body) // 2]))], "utf-8")
    try:
        ledger = read_ledger(path)
    except BadInput as error:
        assert "\n" not in str(error)
        return
    fates = stored_fates(ledger, ledgers.TEXTS)
    found = verify_report(ledger, lambda quote: fates[quote.model_dump_json()])
    assert found.summary


@pytest.mark.parametrize("name", sorted(PAGES))
@settings(max_examples=25)
@given(st.data())
def test_a_damaged_document_is_read_or_refused(name: str, data: st.DataObject) -> None:
    text = PAGES[name]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    middle = data.draw(
        st.sampled_from(["", text[start:end] * 3, data.draw(TEXT), "\0", "\u2028", "<!--", "`" * 9])
    )
    try:
        document = parse_document(
            f"{text[:start]}{middle}{text[end:]}".encode(), content_type=None, name=name
        )
    except Unreadable as error:
        assert name in str(error)
    else:
        assert "\0" not in document.text


FIELDS = st.sampled_from([*RunConfig.model_fields, "query", "output_format", "config", "other"])


@FEW
@given(st.dictionaries(FIELDS, VALUES, max_size=6))
def test_a_request_of_any_shape_is_taken_or_refused_in_a_sentence(body: dict[str, Any]) -> None:
    try:
        request = ResearchRequest(**{"query": "Why?", **body})
    except BadInput as error:
        assert str(error).strip()
    else:
        assert request.run_config()
    try:
        RunConfig.model_validate(body)
    except ValidationError as error:
        assert error.errors(include_url=False, include_context=False)
