"""Controls: what is made false is false and reads well, and what a missed one voids."""

from pathlib import Path

import pytest
from fakes.records import quote

from fathom.evidence.controls import (
    TrustLog,
    choose_controls,
    decide_trust,
    evaluate_controls,
    is_falsehood,
    make_controls,
    make_false_controls,
    mix_in,
    replace_before_particle,
)
from fathom.state import Control, ControlTally, Quote
from fathom.storage import open_storage

ENGLISH = (
    "The Rance plant opened in 1966 and makes 240 MW. The plant at Sihwa opened in 2011 and makes 254 MW. "
    "Swansea was to make 320 MW for 90 years."
)
KOREAN = "2024년 합계출산율은 0.75명이었다. 2023년에는 0.72명이었고, 2015년에는 1.24명을 기록했다."


def quoted(words: str, text: str) -> list[Quote]:
    return [quote(words, text, text.index(words))]


def control(name: str, is_true: bool = False, kind: str = "figure", statement: str = "It is so.") -> Control:
    return Control.model_validate(
        {"id": name, "page": "p", "statement": statement, "quotes": [], "is_true": is_true, "kind": kind}
    )


def test_a_false_control_has_another_figure_or_date_of_the_same_kind_from_the_page() -> None:
    own = quoted("The Rance plant opened in 1966 and makes 240 MW.", ENGLISH)
    made = [c.statement for c in make_false_controls("Rance opened in 1966 with 240 MW.", own, ENGLISH)]
    assert len(made) == 2
    assert made[0] == "Rance opened in 2011 with 240 MW."
    assert made[1] in {"Rance opened in 1966 with 254 MW.", "Rance opened in 1966 with 320 MW."}


def test_a_korean_control_is_made_from_korean_figures() -> None:
    own = quoted("2024년 합계출산율은 0.75명이었다.", KOREAN)
    made = {c.statement for c in make_false_controls("2024년 합계출산율은 0.75명이다.", own, KOREAN)}
    assert made <= {
        *(f"{year}년 합계출산율은 0.75명이다." for year in (2023, 2015)),
        *(f"2024년 합계출산율은 {rate}명이다." for rate in ("0.72", "1.24")),
    }
    assert len(made) == 2


def test_another_call_gets_other_controls_of_the_same_statement() -> None:
    text = " ".join(f"Plant {n} makes {200 + n} MW." for n in range(20))
    own = quoted("Plant 3 makes 203 MW.", text)
    made = [[c.statement for c in make_false_controls(own[0].text, own, text, f"{n}")] for n in range(5)]
    assert len({tuple(said) for said in made}) > 2
    assert made[0] == [c.statement for c in make_false_controls(own[0].text, own, text, "0")]


def test_a_replacement_is_taken_from_the_same_column_of_a_table_and_is_near() -> None:
    text = "| Gas | 14.6 | 31% |\n| Wind | 12.1 | 34% |\n| Hydro | 3.9 | 10% |\n| Peat | 0.2 | 13.0 |"
    own = quoted("| Gas | 14.6 | 31% |", text)
    made = {
        c.statement
        for n in range(20)
        for c in make_false_controls("The output of gas was 14.6.", own, text, f"{n}")
    }
    assert "The output of gas was 12.1." in made
    assert "The output of gas was 13.0." not in made


def test_a_replacement_never_repeats_a_figure_of_the_statement() -> None:
    text = "Output rose from 240 MW to 254 MW. The output of Swale is 254 MW."
    own = quoted("Output rose from 240 MW to 254 MW.", text)
    assert list(make_false_controls(own[0].text, own, text)) == []


def test_nothing_is_made_of_a_page_without_another_figure() -> None:
    text = "The plant makes 240 MW."
    assert list(make_false_controls("It makes 240 MW.", quoted(text, text), text)) == []
    assert [c.kind for c in make_controls([("It makes 240 MW.", quoted(text, text))], text)] == ["quotation"]
    assert make_controls([], text) == []


@pytest.mark.parametrize(
    ("new", "after", "fitting"),
    [
        ("7", "가 늘었다", "이 늘었다"),
        ("2", "이 늘었다", "가 늘었다"),
        ("0.80", "로 올랐다", "으로 올랐다"),
        ("1", "으로 줄었다", "로 줄었다"),
        ("30명", "를 넘었다", "을 넘었다"),
        ("9", "이상이다", "이상이다"),
        ("5%", "을 넘었다", "을 넘었다"),
    ],
)
def test_a_korean_particle_fits_what_stands_before_it(new: str, after: str, fitting: str) -> None:
    assert replace_before_particle(f"값 0{after}", 2, 3, new) == f"값 {new}{fitting}"


@pytest.mark.parametrize(
    ("statement", "original", "changed", "is_false"),
    [
        ("The rule applies to ships.", "aircraft", "ships", True),
        ("The rule applies to aircraft.", "aircraft", "ships", False),
        ("The rule applies to aircraft.", "aircraft", "aircraft", False),
        ("The rule applies to boats.", "aircraft", "boats", False),
        ("The rule applies to ships.", "trains", "ships", False),
        ("The rule applies to ships.", "aircraft", "", False),
    ],
    ids=["false", "not in it", "the same", "in the source", "nothing changed", "empty"],
)
def test_a_near_miss_must_change_words_of_the_source(
    statement: str, original: str, changed: str, is_false: bool
) -> None:
    told = "The rule applies to aircraft only, boats are exempt."
    assert is_falsehood(statement, original, changed, told) is is_false


def test_the_choice_and_the_places_follow_from_the_seed_alone() -> None:
    pool = [
        *(control(f"f{n}") for n in range(5)),
        *(control(f"w{n}", kind="wording") for n in range(3)),
        control("p", is_true=True, kind="paraphrase"),
        control("q", is_true=True, kind="quotation"),
    ]
    chosen = choose_controls(pool, "seed")
    assert chosen == choose_controls(list(reversed(pool)), "seed")
    assert sorted(c.kind for c in chosen) == ["figure", "paraphrase", "wording"]
    assert len({tuple(c.id for c in choose_controls(pool, f"{n}")) for n in range(9)}) > 1
    items = [f"item {n}" for n in range(10)]
    mixed = mix_in(items, chosen, "seed")
    assert mixed == mix_in(items, chosen, "seed")
    assert [m for m in mixed if isinstance(m, str)] == items
    assert sum(isinstance(m, Control) for m in mixed) == 3
    assert len({tuple(map(str, mix_in(items, chosen, f"{n}"))) for n in range(9)}) > 1


@pytest.mark.parametrize(
    ("false_approved", "true_approved", "void"),
    [(False, True, (False, False)), (True, True, (True, False)), (False, False, (False, True))],
)
def test_a_missed_control_voids_the_answers_of_its_kind(
    false_approved: bool, true_approved: bool, void: tuple[bool, bool]
) -> None:
    answers = [(control("f"), false_approved), (control("t", is_true=True, kind="paraphrase"), true_approved)]
    outcome = evaluate_controls(answers, "call", "m, verifier@1")
    assert (outcome.are_approvals_void, outcome.are_refusals_void) == void
    assert {t.kind: t.missed for t in outcome.tallies} == {"figure": int(void[0]), "paraphrase": int(void[1])}


def test_a_verifier_is_decided_on_after_enough_controls() -> None:
    assert decide_trust(0, 0) == "undecided"
    assert decide_trust(20, 0) == "undecided"
    assert decide_trust(60, 0) == "undecided"  # right in 95 of 100 cases: one in 20 has such luck
    assert decide_trust(100, 0) == decide_trust(100, 1) == "trusted"
    assert decide_trust(0, 3) == "untrusted"
    assert decide_trust(90, 10) == "untrusted"
    assert decide_trust(297, 3) == "trusted"
    assert decide_trust(294, 6) == decide_trust(950, 50) == "undecided"  # between good and bad


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("30~34세 산모가 많다.", "30~34세 산모가 많다. 50세 이상은 없다. 20세 미만도 적다."),
        ("| 30세 | 1991년 |", "| 30세 | 1991년 |\n| 50세 | 1971년 |"),
    ],
)
def test_no_control_gives_itself_away_by_its_form(statement: str, text: str) -> None:
    own = quoted(statement, text)
    assert list(make_false_controls(statement, own, text)) == []
    assert [c for c in make_controls([(statement, own)], text) if "|" in c.statement] == []


async def test_a_call_that_is_noted_twice_counts_once_and_languages_are_kept_apart(tmp_path: Path) -> None:
    log = TrustLog(open_storage(tmp_path / "fathom.sqlite"))
    tallies = [
        ControlTally(call=f"c{n}", verifier="m, verifier@1", language="ko", kind="date", shown=2, missed=2)
        for n in range(2)
    ]
    await log.note(tallies[:1])
    await log.note(tallies[:1])
    assert await log.trust("m, verifier@1", "ko") == "undecided"
    await log.note(tallies)
    assert await log.trust("m, verifier@1", "ko") == "untrusted"
    assert await log.trust("m, verifier@1", "en") == "undecided"
    assert await log.trust("m, verifier@2", "ko") == "undecided"
