"""A report that can be read back and checked again, whatever was done to it or to its pages."""

import json
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from fakes.ledgers import DAM, QUESTION, SEA, TEXTS, ledger, result
from fakes.records import claim, page, quote, section, sentence, sha
from hypothesis import given
from hypothesis import strategies as st

from fathom.errors import BadInput
from fathom.evidence.claims import LivePage, check_stored_quote
from fathom.report.ledger import LEDGER_FORMAT, Ledger, read_ledger
from fathom.report.rerender import ledger_as_state, rerender_report
from fathom.report.verify import NOT_COMPARED, TOO_LITTLE, Verification, cited_quotes, verify_report
from fathom.state import SCOUT, Contradiction, ContradictionSide, Quote, RunUpdate, Writing
from fathom.text.messages import KOREAN


def checked(cost_log: Ledger, texts: dict[str, str] | None = None, beside: str | None = None) -> Verification:
    """The report checked against texts by hash, as a database holds them."""
    held: dict[str, str] = TEXTS if texts is None else texts
    return verify_report(cost_log, lambda quote: check_stored_quote(quote, held.get(quote.page)), beside)


def standings(found: Verification) -> list[str]:
    return [entry.standing for entry in found.sentences]


def test_a_result_is_a_ledger_that_can_be_read_back(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(result().model_dump_json(indent=2), "utf-8")
    cost_log = read_ledger(tmp_path / "report.json")
    assert (cost_log.format, cost_log.run_id, cost_log.claims) == (
        LEDGER_FORMAT,
        result().run_id,
        result().claims,
    )
    assert cost_log.sources[0].fetched
    assert cost_log.settings == result().settings


def test_what_a_later_version_adds_does_not_stop_an_earlier_one(tmp_path: Path) -> None:
    told = json.loads(result().model_dump_json())
    told["later"] = {"a": 1}
    told["claims"][0]["later"] = told["sections"][0]["sentences"][0]["later"] = "x"
    (tmp_path / "r.json").write_text(json.dumps(told), "utf-8")
    assert checked(read_ledger(tmp_path / "r.json")).is_sound


def test_the_first_ledger_ever_written_can_still_be_checked() -> None:
    cost_log = read_ledger(Path(__file__).parent / "ledger-1.json")
    found = checked(cost_log)
    assert standings(found) == ["supported"] * 3
    assert found.is_sound


def test_everything_a_report_is_made_of_is_in_the_ledger() -> None:
    needed = set(get_type_hints(Writing)) - {"report", "costs", "earlier", "run", "effort"}
    needed -= {
        "lengths",
        "limits",
        "edit",
        "control_tallies",
    }  # of the writing, not of the report
    update = RunUpdate(run="x", since="2025-05-01", changes=[])
    assert needed <= set(ledger_as_state(ledger(update=update))), (
        "what publishing needs must be in Ledger and in writing_of"
    )


def test_a_ledger_gives_its_report_again() -> None:
    made = rerender_report(ledger())
    assert made is not None
    assert made.markdown == result().report


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe{}", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1, 2]", "is not a report of Fathom"),
        (b"{}", "is not a report of Fathom"),
        (b'{"format": 7}', "is not a report of Fathom"),
        (b'{"format": "fathom-ledger/99"}', "is in another format than fathom-ledger/1"),
        (b'{"format": "fathom-ledger/1"}', "is a damaged report: fathom: "),
        (b'{"format": "fathom-ledger/1", "a": ' + b"9" * 5000 + b"}", "is "),
    ],
)
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, body: bytes, words: str) -> None:
    (tmp_path / "report.json").write_bytes(body)
    with pytest.raises(BadInput, match=words) as refused:
        read_ledger(tmp_path / "report.json")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_wrong_types_deep_inside_are_refused_in_one_sentence(tmp_path: Path) -> None:
    told = json.loads(result().model_dump_json())
    told["claims"][0]["quotes"][0]["start"] = {"$gt": 0}
    (tmp_path / "r.json").write_text(json.dumps(told))
    with pytest.raises(BadInput, match=r"claims\.0\.quotes\.0\.start"):
        read_ledger(tmp_path / "r.json")


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        read_ledger(tmp_path / name)


def test_an_untouched_report_is_sound() -> None:
    found = checked(ledger(), beside=result().report)
    assert found.summary == "3 sentences: 3 supported, 0 changed, 0 gone."
    assert found.is_sound


@given(place=st.integers(0, len(SEA) - 1), letter=st.characters(exclude_categories=["Cs"]))
def test_one_character_of_a_page_changed_anywhere_is_found(place: int, letter: str) -> None:
    tampered = SEA[:place] + letter + SEA[place + 1 :]
    found = checked(ledger(), {**TEXTS, sha(SEA): tampered})
    assert found.is_sound == (tampered == SEA)
    assert tampered == SEA or standings(found) == ["changed", "changed", "supported"]


def test_a_page_that_is_no_longer_kept_is_gone_and_takes_only_its_own_sentences() -> None:
    found = checked(ledger(), {sha(SEA): SEA})
    assert standings(found) == ["supported", "supported", "gone"]
    assert "no longer in the database" in found.sentences[2].why


def tampered(change: Any) -> Ledger:
    """The ledger after somebody edited its JSON."""
    told = json.loads(result().model_dump_json())
    change(told)
    return Ledger.model_validate(told, extra="ignore")


def test_a_quote_moved_or_reworded_in_the_ledger_is_found() -> None:
    def moved(told: Any) -> None:
        told["claims"][0]["quotes"][0]["start"] += 1
        told["claims"][1]["quotes"][0]["text"] = "Divers come in winter."
        told["claims"][2]["quotes"][0] |= {"start": -30, "end": -1}

    assert standings(checked(tampered(moved))) == ["changed"] * 3


def test_a_sentence_reworded_in_the_ledger_and_in_the_report_is_found() -> None:
    def reworded(told: Any) -> None:
        told["sections"][0]["sentences"][0]["text"] = "The plant makes 940 megawatts."
        told["sections"][1]["sentences"][0]["claims"] = ["c9"]
        told["report"] = told["report"].replace("240 megawatts.", "940 megawatts.", 1)

    found = checked(tampered(reworded))
    assert standings(found) == ["changed", "supported", "changed"]
    assert "940" in found.sentences[0].why
    assert "c9" in found.sentences[2].why


def test_a_source_with_another_figure_behind_a_sentence_is_found() -> None:
    other = "The plant makes 250 megawatts."
    more = claim(other, name="c9", quotes=[quote(other, other, 0)])
    both = section(sentence("The plant makes 240 megawatts.", "c1", "c9"))
    made = result(
        claims=[*result().claims, more],
        pages=[*result().sources, page(other, "https://other.example/")],
        sections=[both, result().sections[1]],
    )
    found = checked(
        Ledger.model_validate_json(made.model_dump_json(), extra="ignore"), {**TEXTS, sha(other): other}
    )
    assert standings(found) == ["changed", "supported"]
    assert "c9 says otherwise: 240 megawatts is not 250 megawatts" in found.sentences[0].why


def test_a_sentence_passed_off_as_a_connection_is_found() -> None:
    def disguised(told: Any) -> None:
        told["sections"][0]["sentences"][2]["text"] = "It cost 90 million euros."

    found = checked(tampered(disguised))
    assert found.sentences[2].standing == "changed"
    assert "names no claim" in found.sentences[2].why or "does not say it so" in found.sentences[2].why


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "## 용량",
            "It is also the cheapest plant of all.\n\n## 용량",
            "says what the ledger does not: It is",
        ),
        (
            "The rest follows below.",
            "The rest follows below. It never fails.",
            "says what the ledger does not",
        ),
        ("## Sources", "## What else\n\nMore.\n\n## Sources", "says what the ledger does not: More."),
        ("<https://sea.example/a>", "<https://evil.example/a>", "evil.example"),
        ("## Sources\n", "## Sources\n\n- Beyond doubt, it holds.\n", "Beyond doubt"),
    ],
)
def test_what_a_hand_wrote_into_the_report_is_found(old: str, new: str, fault: str) -> None:
    by_hand = result().report.replace(old, new)
    assert by_hand != result().report
    assert any(fault in told for told in checked(ledger(report=by_hand)).faults)
    beside = checked(ledger(), beside=by_hand)
    assert any(fault in told and told.startswith("report.md") for told in beside.faults)
    assert not beside.is_sound


def test_another_number_behind_a_sentence_is_found() -> None:
    found = checked(ledger(report=result().report.replace("spring. [1]", "spring. [2]")))
    assert standings(found)[:2] == ["supported", "changed"]
    assert any("[2]" in fault for fault in found.faults)


def test_sentences_taken_out_of_the_report_are_found() -> None:
    found = checked(ledger(report=result().report.replace(" Divers come in spring.", "")))
    assert standings(found) == ["supported", "changed", "supported"]


def test_a_report_of_another_version_holds_if_every_line_comes_from_its_ledger() -> None:
    assert checked(ledger(fathom="0.0.1")).notes == []
    words = result().report.replace("## Sources", "## What was not found\n\n## Sources")
    found = checked(
        ledger(fathom="0.0.1", report=words.replace("## What is known\n\n", "## What is known\n"))
    )
    assert (found.is_sound, found.notes) == (True, [NOT_COMPARED])
    found = checked(ledger(fathom="0.0.1", report=result().report.replace("Divers come", "Divers went")))
    assert standings(found) == ["supported", "changed", "supported"]


@pytest.mark.parametrize("key", [key for key in KOREAN.phrases if key.startswith("because.")])
def test_why_a_run_stopped_is_known_in_a_korean_report_of_an_earlier_version(key: str) -> None:
    why = re.sub(r"\{\w+\}", "0.81", KOREAN.phrases[key])
    line = f"*{KOREAN.earlier[0]}. 멈춘 이유: 충분함 ({why}).*"
    found = checked(ledger(fathom="0.0.1", report=result().report.replace("## What", f"{line}\n\n## What")))
    assert (found.is_sound, found.notes) == (True, [NOT_COMPARED])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## 용량", "It is also the cheapest plant of all.\n\n## 용량"),
        ("## 용량", "가장 싼 발전소이기도 하다.\n\n## 용량"),
        ("The rest follows below.", "The rest follows below. It never fails."),
        ("## Sources", "## What else\n\nMore.\n\n## Sources"),
        ("## Sources\n", "## Sources\n\n- Beyond doubt, it holds.\n"),
        ("## What is known\n", "## What is known\n\n| a | table |"),
    ],
)
def test_another_version_is_no_excuse_for_prose_that_is_not_in_the_ledger(old: str, new: str) -> None:
    found = checked(ledger(fathom="0.0.9", report=result().report.replace(old, new)))
    assert any("says what the ledger does not" in fault for fault in found.faults)
    assert NOT_COMPARED in found.faults


def first_asked(told: Any) -> None:
    told["asked"] = [{"id": SCOUT, "text": QUESTION, "question": "", "round": 1}]
    told["metadata"]["queries"] = 1


@pytest.mark.parametrize(
    ("place", "name", "value", "fault"),
    [
        ("", "question", "How weak is the plant?", "The question is not the one that was researched"),
        ("", "status", "unsure", "The status is given as unsure"),
        ("", "is_partial", True, "Whether the report is partial"),
        ("metadata", "rounds", 40, "The metadata give rounds as 40; the ledger has 1."),
        ("metadata", "sources", 9, "The metadata give sources as 9; the ledger has 2."),
    ],
)
def test_what_the_ledger_says_of_the_run_must_be_what_the_run_was(
    place: str, name: str, value: Any, fault: str
) -> None:
    def edited(told: Any) -> None:
        first_asked(told)
        (told[place] if place else told)[name] = value

    assert checked(tampered(first_asked)).is_sound
    assert any(fault in told for told in checked(tampered(edited)).faults)


def test_a_ledger_from_which_the_judgements_were_taken_is_no_way_around_the_comparison() -> None:
    assert checked(tampered(lambda told: told.update(judgements=[]))).faults == [TOO_LITTLE]


def test_line_endings_of_another_system_change_nothing() -> None:
    assert checked(ledger(), beside=result().report.replace("\n", "\r\n")).is_sound


def test_two_claims_of_one_name_are_a_fault() -> None:
    cost_log = ledger()
    twice = cost_log.model_copy(update={"claims": [*cost_log.claims, cost_log.claims[0]]})
    assert any("Two claims have the same name" in fault for fault in checked(twice).faults)


def test_a_page_that_was_not_listed_supports_nothing() -> None:
    cost_log = ledger()
    found = checked(cost_log.model_copy(update={"sources": cost_log.sources[1:]}))
    assert standings(found)[:2] == ["changed", "changed"]


def test_a_sentence_that_is_marked_claims_nothing() -> None:
    sections = [
        result().sections[0].model_copy(update={"sentences": [sentence("So.", status="unsupported")]}),
        result().sections[1],
    ]
    made = result(sections=sections)
    found = checked(Ledger.model_validate_json(made.model_dump_json(), extra="ignore"))
    assert (found.marked, standings(found)) == (1, ["supported"])


def disputed(value: str = "The plant makes 240 megawatts.") -> Contradiction:
    """Two sources that disagree about the plant."""
    sides = [
        ContradictionSide(claims=["c1"], value=value, pages=[sha(SEA)], published=[None]),
        ContradictionSide(claims=["c3"], value="254메가와트", pages=[sha(DAM)], published=["2011-01-01"]),
    ]
    return Contradiction(id="x", kind="number", question="Q1", about="the power", sides=sides)


def test_a_table_of_disagreements_holds_as_it_was_written() -> None:
    cost_log = Ledger.model_validate_json(
        result(contradictions=[disputed()]).model_dump_json(), extra="ignore"
    )
    assert checked(cost_log).is_sound
    assert any("of a disagreement is gone" in fault for fault in checked(cost_log, {sha(SEA): SEA}).faults)


def test_a_side_of_a_disagreement_in_words_of_nobody_is_found() -> None:
    made = result(contradictions=[disputed("The plant makes 9 megawatts.")])
    found = checked(Ledger.model_validate_json(made.model_dump_json(), extra="ignore"))
    assert [fault for fault in found.faults if "is not in the words of its quotes" in fault]


def test_a_disagreement_about_claims_that_do_not_exist_is_found() -> None:
    entry = disputed().model_dump()
    entry["sides"][0]["claims"] = ["c99"]
    assert not checked(ledger(contradictions=[Contradiction.model_validate(entry)])).is_sound


def live(quote: str, text: str) -> tuple[str, str]:
    """What becomes of a quote on a page that has this text today."""
    fate = LivePage("x", text).fate(Quote(page="x", start=0, end=len(quote), text=quote))
    return fate.standing, fate.why


@pytest.mark.parametrize("text", [f"New words first.  {SEA}", SEA.upper(), SEA.replace(" ", "\n")])
def test_a_quote_that_moved_on_its_page_is_still_there(text: str) -> None:
    assert live("The plant makes 240 megawatts.", text)[0] == "supported"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SEA.replace("240", "250"), "250 megawatts"),
        (SEA.replace("makes", "may make"), "may make"),
        (SEA.replace("240", "1,240"), "1,240 megawatts"),
        (SEA.replace("The plant makes", "The plant never makes"), "never makes"),
        ("Something about cheese and its rind.", "nothing like it"),
        ("", "nothing like it"),
    ],
)
def test_a_page_that_says_something_else_is_quoted(text: str, told: str) -> None:
    standing, why = live("The plant makes 240 megawatts.", text)
    assert standing == "changed"
    assert told in why


def test_a_korean_quote_with_another_number_is_found() -> None:
    standing, why = live("조력 발전소의 설비 용량은 254메가와트이다.", DAM.replace("254", "245"))
    assert (standing, "245메가와트" in why) == ("changed", True)


def test_every_quote_is_looked_up_once() -> None:
    assert len(cited_quotes(ledger())) == 3


def test_one_changed_word_of_a_long_quote_changes_only_the_sentence_that_rests_on_it() -> None:
    claims = [
        claim(SEA, name="c1", quotes=[quote(SEA, SEA, 0)]),
        *result().claims[2:],
    ]
    sections = [
        section(
            sentence("The plant makes 240 megawatts.", "c1"),
            sentence("Divers come in spring.", "c1"),
            sentence("Nobody has counted the seals.", "c1"),
        ),
        *result().sections[1:],
    ]
    whole = result(claims=claims, sections=sections)
    now = LivePage(sha(SEA), SEA.replace("240", "260"))
    found = verify_report(
        whole, lambda one: now.fate(one) if one.page == sha(SEA) else LivePage(sha(DAM), DAM).fate(one)
    )
    assert standings(found) == ["changed", "supported", "supported", "supported"]
