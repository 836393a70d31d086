"""Where sources disagree: who says what, and which rule settles it."""

from typing import Any

import pytest
from fakes.records import claim, page, sha

from fathom.evidence.corroboration import ClaimComparison, ComparisonResult, group_knowledge
from fathom.state import Claim, Contradiction, Page, Ruling

MORE = "The lagoon at Swale delivers 320 megawatts of tidal power."
LESS = "The lagoon at Swale delivers 280 MW of tidal power."
OTHER = "The lagoon at Swale delivers 250 megawatts of tidal power."
ABOARD = [
    "The ferry of Merrow carries 21 people eastwards.",
    "The ferry of Merrow saved 33 people once.",
    "The ferry of Merrow employs 45 people ashore.",
    "The ferry of Merrow pays 57 people weekly.",
    "The ferry of Merrow delights 69 people daily.",
    "The ferry of Merrow trained 81 people abroad.",
    "The ferry of Merrow annoyed 93 people asleep.",
]
LOUD = [
    "The ferry of Merrow wakes the bay with its engine.",
    "The ferry of Merrow does not disturb anybody in the bay.",
]


def weigh(*said: str, rulings: list[Ruling] | None = None, **pages: Any) -> ComparisonResult:
    return ClaimComparison(claims(*said), shelf(*said, **pages), []).compare(rulings or [])


def claims(*said: str) -> list[Claim]:
    return [claim(text, name=f"c{n}", of=f"p{n}", relevance=0.9 - n / 10) for n, text in enumerate(said)]


def shelf(*said: str, **words: Any) -> list[Page]:
    """A page for each, with addresses, titles and dates as given for its place."""
    given = [{name: values[n] for name, values in words.items()} for n in range(len(said))]
    return [
        page(f"p{n}", own.pop("address", f"https://host{n}.example/"), **own) for n, own in enumerate(given)
    ]


def only(weighed: ComparisonResult) -> Contradiction:
    (entry,) = weighed.contradictions
    return entry


def ruling(relation: str, kind: str = "other", left: str = "c0", right: str = "c1") -> Ruling:
    return Ruling.model_validate({"claims": [left, right], "relation": relation, "kind": kind, "by": "model"})


def test_both_sides_are_told_with_value_page_and_date() -> None:
    weighed = weigh(MORE, LESS, published=["2024-05-01", None])
    entry = only(weighed)
    assert (entry.kind, entry.question, entry.settled_by, entry.favoured) == ("number", "Q1", None, None)
    assert entry.about == "The lagoon at Swale delivers … of tidal power."
    assert [(s.claims, s.value, s.pages, s.published) for s in entry.sides] == [
        (["c0"], "320 megawatts", [sha("p0")], ["2024-05-01"]),
        (["c1"], "280 MW", [sha("p1")], [None]),
    ]
    assert [finding.tag for finding in weighed.findings] == ["CONTRADICTED", "CONTRADICTED"]
    assert [(r.relation, r.by) for r in weighed.rulings] == [("contradicts", "rules")]


def test_three_figures_are_one_dispute_and_a_side_has_all_that_agree() -> None:
    entry = only(weigh(MORE, LESS, OTHER, "The lagoon at Swale delivers 0.28 GW of tidal power."))
    assert [side.value for side in entry.sides] == ["320 megawatts", "280 MW", "250 megawatts"]
    assert entry.sides[1].claims == ["c1", "c3"]
    assert entry.sides[1].pages == [sha("p1"), sha("p3")]


@pytest.mark.parametrize(
    "other",
    [
        "The lagoon at Swale delivers 0.32 GW of tidal power.",
        "The lagoon at Merrow delivers 280 MW of tidal power.",
        "The lagoon at Swale delivered 280 MW of tidal power in 2011.",
    ],
)
def test_another_unit_place_or_year_is_no_contradiction(other: str) -> None:
    assert not [entry for entry in weigh(MORE, other).contradictions if entry.is_certain]


def test_a_page_does_not_contradict_itself() -> None:
    known = [claim(MORE, name="a", of="one"), claim(LESS, name="b", of="one")]
    assert ClaimComparison(known, [page("one")], []).compare().contradictions == []


def test_a_korean_dispute_has_korean_values() -> None:
    entry = only(weigh("솔섬 조력발전소는 2011년에 완공되었다.", "솔섬 조력발전소는 2013년에 완공되었다."))
    assert (entry.kind, [s.value for s in entry.sides]) == ("date", ["2011년", "2013년"])
    assert entry.about == "솔섬 조력발전소는 …에 완공되었다."


def test_a_value_is_written_as_its_quote_writes_it() -> None:
    known = [
        claim(MORE, name="a", of="p0", said="Swale's lagoon: 0.32 GW on a good day"),
        claim(LESS, name="b", of="p1", said="about the lagoon nothing is known in figures"),
    ]
    entry = only(ClaimComparison(known, shelf("", ""), []).compare())
    assert [s.value for s in entry.sides] == ["0.32 GW", "about the lagoon nothing is known in figures"]


def test_what_no_rule_decides_a_mind_decides_once() -> None:
    scales = ClaimComparison(claims(*LOUD), shelf(*LOUD), [])
    weighed = scales.compare([ruling("contradicts")])
    assert [s.value for s in only(weighed).sides] == LOUD
    later = ClaimComparison(claims(*LOUD), shelf(*LOUD), weighed.rulings)
    assert later.compare().contradictions == weighed.contradictions
    assert later.compare().rulings == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The Karuve dam was opened in 1966 and has 240 MW.", "The Karuve dam has 220 MW."),
        ("In 2024 Orla counted 222,422 weddings.", "In 2024 Orla counted 222,412 weddings."),
        (
            "2024년 오를라의 혼인은 222,422건이었다.",
            "차례로 더하면 오를라의 혼인은 2024년 22만 2,412건이 된다.",
        ),
        (
            "오를라의 방은 한 번 불을 때면 100일 동안 따뜻하다.",
            "오를라의 방은 한 번 불을 때면 49일 동안 따뜻하다.",
        ),
        ("Line 2 of Ombe carries 900,000 riders a day.", "Line 2 of Ombe carries 800,000 riders a day."),
        ("The sea gate 30 m wide was opened at Karuve.", "The sea gate 40 m wide was opened at Karuve."),
    ],
)
def test_figures_of_one_thing_and_time_that_differ_are_a_dispute(left: str, right: str) -> None:
    assert only(weigh(left, right)).kind == "number"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The Karuve dam has 240 MW.", "The Ombe dam has 185 MW."),
        ("The plant at Karuve in Lusaro has 240 MW.", "The plant at Ombe in Lusaro has 185 MW."),
        ("The draft was locked on May 21, 2026.", "The final text will be published on July 28, 2026."),
        ("2025년 출생아는 25만 4,500명이다.", "2025년 산모의 평균 나이는 33.8세였다."),
        ("2025년 합계출산율은 0.80명이다.", "2025년 1분기 합계출산율은 0.82명이다."),
        ("Reactor 1 at Karuve stores water at high tide.", "Reactor 2 at Karuve stores water at high tide."),
        ("Section 4 of the law allows fishing in Ombe.", "Section 5 of the law allows fishing in Ombe."),
        ("카루베 발전소 3호기는 밀물 때 바닷물을 가둔다.", "카루베 발전소 4호기는 밀물 때 바닷물을 가둔다."),
    ],
)
def test_two_things_or_two_times_are_no_dispute(left: str, right: str) -> None:
    assert weigh(left, right).contradictions == []


def test_of_claims_with_many_figures_those_are_shown_that_the_ruling_names() -> None:
    long = "Marriages rose by 1.0 percent in 2023, by 14.8 percent in 2024 and by 8.1 percent in 2025."
    short = "Marriages numbered 222,422, which is 14.9 percent more, the most since 1970."
    given = ruling("contradicts", "number").model_copy(update={"why": "14.8 percent against 14.9 percent"})
    entry = only(weigh(long, short, rulings=[given]))
    assert [side.value for side in entry.sides] == ["14.8 percent", "14.9 percent"]


def test_nearly_equal_figures_that_a_ruling_names_are_told_apart() -> None:
    long = "혼인은 2023년에 1.0%, 2024년에 2만 8,755건(14.8%), 2025년에 8.1% 늘었다."
    short = "2024년 혼인은 22만 2,422건으로 증가율 14.9%는 1970년 이래 가장 높다."
    given = ruling("contradicts", "number").model_copy(
        update={"why": "한쪽은 14.9%, 다른 쪽은 14.8%로 적는다."}
    )
    entry = only(weigh(long, short, rulings=[given]))
    assert [side.value for side in entry.sides] == ["14.8%", "14.9%"]
    assert not entry.is_certain  # so slight a difference is no dispute


def test_a_ruling_on_unknown_claims_or_on_one_page_means_nothing() -> None:
    assert not weigh(*LOUD, rulings=[ruling("contradicts", right="c9")]).rulings
    alone = [claim(text, name=f"c{n}", of="one") for n, text in enumerate(LOUD)]
    assert not ClaimComparison(alone, [page("one")], []).compare([ruling("contradicts")]).contradictions


def test_a_side_is_told_by_the_quote_with_the_figures_that_the_ruling_names() -> None:
    known = claims(
        "Marriages in Swale grew by 1.0%, then by 14.8%.", "Marriages in Swale grew as never before."
    )
    quotes = [known[0].quotes[0].model_copy(update={"text": t}) for t in ("2023: 1.0%", "2024: 14.8%")]
    known[0] = known[0].model_copy(update={"quotes": quotes})
    said = ruling("contradicts").model_copy(update={"why": "14.8% against 14.9%"})
    entry = only(ClaimComparison(known, shelf("", ""), []).compare([said]))
    assert "2024: 14.8%" in {side.value for side in entry.sides}


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (
            [MORE, "The lagoon at Swale delivers 0.32 GW of tidal power."],
            "contradicts",
        ),  # rules prove them equal
        ([MORE, LESS], "same"),  # rules prove them different
        (
            ["Divers clean turbines.", "Bread is baked in the north."],
            "contradicts",
        ),  # about nothing in common
    ],
)
def test_a_rule_beats_a_ruling_and_a_ruling_about_two_subjects_means_nothing(
    said: list[str], word: str
) -> None:
    scales = ClaimComparison(claims(*said), shelf(*said), [])
    assert scales.compare([ruling(word)]) == scales.compare()
    stranger = ruling(word, left="c0", right="zz")
    assert scales.compare([stranger]) == scales.compare()


_OLD, _NEW = "2020-01-01", "2024-01-01"
SETTLED: list[tuple[str, dict[str, Any], str | None, int | None]] = [
    ("nothing is known of either", {}, None, None),
    ("newer, but nobody official", {"published": [_OLD, _NEW]}, None, None),
    (
        "a newer official figure",
        {"address": ["https://p.example/", "https://stats.go.kr/"], "published": [_OLD, f"{_NEW}T09:00"]},
        "newer official figure",
        1,
    ),
    (
        "an official figure that is older",
        {"address": ["https://p.example/", "https://stats.gov/"], "published": [_NEW, _OLD]},
        None,
        None,
    ),
    (
        "official, but the other may be newer",
        {"address": ["https://p.example/", "https://stats.gov/"], "published": ["2020", _NEW]},
        None,
        None,
    ),
    (
        "a later version of one source",
        {"address": ["https://a.example/new", "https://www.a.example/old"], "published": [_NEW, _OLD]},
        "same source, later version",
        0,
    ),
    (
        "one source on one day",
        {"address": ["https://a.example/new", "https://a.example/old"], "published": [_NEW, _NEW]},
        None,
        None,
    ),
    ("a page that was retracted", {"title": ["RETRACTED: Power", "Power"]}, "retraction or correction", 1),
    ("철회된 글", {"title": ["발전소", "[철회됨] 발전소"]}, "retraction or correction", 0),
    ("both retracted", {"title": ["Retracted: A", "Withdrawn: B"]}, None, None),
    (
        "a correction by the same owner",
        {"title": ["Correction", "Power"], "address": ["https://a.example/2", "https://a.example/1"]},
        "retraction or correction",
        0,
    ),
    (
        "a later correction in a file beside it",
        {
            "title": ["Power", "Correction"],
            "address": ["file:///d/a.html", "file:///d/b.html"],
            "published": [_OLD, _NEW],
        },
        "retraction or correction",
        1,
    ),
    (
        "a file that is older than what it would correct",
        {
            "title": ["Power", "Correction"],
            "address": ["file:///d/a.html", "file:///d/b.html"],
            "published": [_NEW, _OLD],
        },
        None,
        None,
    ),
    ("a correction by a stranger", {"title": ["Correction of everything", "Power"]}, None, None),
    (
        "정정 기사",
        {"title": ["발전소", "정정합니다"], "address": ["https://a.example/1", "https://a.example/2"]},
        "retraction or correction",
        1,
    ),
]


@pytest.mark.parametrize(("pages", "rule", "favoured"), [s[1:] for s in SETTLED], ids=[s[0] for s in SETTLED])
def test_a_rule_settles_it_by_name_or_it_stays_open(
    pages: dict[str, Any], rule: str | None, favoured: int | None
) -> None:
    weighed = weigh(MORE, LESS, **pages)
    entry = only(weighed)
    assert (entry.settled_by, entry.favoured) == (rule, favoured)
    if favoured is not None:
        last = weighed.findings[-1]  # what a rule decided against is told after the rest
        assert (last.claims, last.tag) == (entry.sides[1 - favoured].claims, "UNCERTAIN")
        assert weighed.findings[0].tag == "LIKELY"
        groups = group_knowledge(weighed.findings, weighed.contradictions)
        assert [f.id for f in groups["disproven"]] == [last.id]
        assert len(groups["uncertain"]) == 1


def test_a_correction_that_names_what_it_corrects_is_believed_of_anybody() -> None:
    known = [
        claim(MORE, name="a", of="p0"),
        claim(
            LESS, name="b", of="p1", said="Correction: it delivers 280 MW, not 320 megawatts, of tidal power."
        ),
    ]
    assert only(ClaimComparison(known, shelf("", ""), []).compare()).settled_by == "retraction or correction"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "The ferry to Orla costs 7 crowns.",
            "The ferry to Orla costs 9 crowns, not 7 crowns as we reported.",
        ),
        ("The ferry to Orla costs 7 crowns.", "Correction: The ferry to Orla costs 9 crowns, not 7."),
        (
            "오를라 여객선의 요금은 7크로네이다.",
            "정정: 오를라 여객선의 요금은 7크로네가 아니라 9크로네이다.",
        ),
    ],
)
def test_a_sentence_that_gives_the_right_figure_for_a_wrong_one_corrects_it(wrong: str, right: str) -> None:
    entry = only(weigh(wrong, right))
    assert (entry.settled_by, entry.favoured) == ("retraction or correction", 1)
    assert [side.value for side in entry.sides] == ["7", "9"]


def test_a_newer_official_figure_is_about_numbers_only() -> None:
    said = ["The tower of Merrow is safe for visitors.", "The tower of Merrow is not safe for visitors."]
    weighed = weigh(*said, address=["https://a.example/", "https://b.gov/"], published=[_OLD, _NEW])
    assert only(weighed).settled_by is None


def test_figures_that_only_may_conflict_are_told_as_such_and_change_no_tag() -> None:
    weighed = weigh(
        "The Orla tower is 330 m tall.", "At its opening in 1889 the Orla tower stood 312 metres high."
    )
    entry = only(weighed)
    assert (entry.is_certain, entry.is_open) == (False, False)
    assert [side.value for side in entry.sides] == ["330 m", "312 metres"]
    assert {finding.tag for finding in weighed.findings} == {"LIKELY"}


@pytest.mark.parametrize(
    ("left", "right", "title"),
    [
        ("The tower is 330 metres tall.", "It is 312 metres high.", "The Orla Tower"),
        (
            "한 번 불을 때면 온기가 100일 동안 유지되었다.",
            "아자방은 한 번 불을 지피면 49일 동안 온기가 가시지 않았다.",
            "아자방",
        ),
    ],
)
def test_a_statement_without_a_name_is_about_what_its_page_names(left: str, right: str, title: str) -> None:
    assert only(weigh(left, right, title=[title, title])).kind == "number"
    assert not weigh("The tower is 330 m tall.", "It is 312 m high.", title=["Orla", "Merrow"]).contradictions


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The Orla tower is 330 m tall.", "The Orla tower is 125 m wide."),
        ("Orla's rate was 0.55 in 2023.", "Merrow's rate was 0.72 in 2023."),
        ("랑스 발전소의 설비용량은 240MW이다.", "시화호 발전소의 설비용량은 254MW이다."),
        ("The Orla tower is about 330 m tall.", "The Orla tower stands 327 m high."),
    ],
)
def test_other_dimensions_and_other_things_are_no_rivals(left: str, right: str) -> None:
    assert weigh(left, right).contradictions == []


def test_one_disagreement_of_three_statements_is_one_entry() -> None:
    weighed = weigh(
        "The Karuve dam was opened in 1966 and has 240 MW.",
        "The Karuve dam has 220 MW.",
        "The Karuve dam has a capacity of 240 MW for the valley.",
    )
    entry = only(weighed)
    assert sorted(len(side.claims) for side in entry.sides) == [1, 2]


@pytest.mark.parametrize(
    ("left", "right", "is_slight"),
    [
        ("Swale counted 222,412 marriages in 2024.", "Swale counted 222,422 marriages in 2024.", True),
        ("Marriages in Swale rose by 14.8% in 2024.", "Marriages in Swale rose by 14.9% in 2024.", True),
        ("Swale counted 222,412 marriages in 2024.", "Swale counted 231,400 marriages in 2024.", False),
        ("The grid of Swale was up 99.95% in 2024.", "The grid of Swale was up 99.9% in 2024.", False),
    ],
)
def test_figures_that_differ_by_hardly_more_than_rounding_are_kept_but_no_dispute(
    left: str, right: str, is_slight: bool
) -> None:
    weighed = weigh(left, right)
    entry = only(weighed)
    assert (entry.is_slight, entry.is_certain) == (is_slight, not is_slight)
    assert len({side.value for side in entry.sides}) == 2
    assert ("CONTRADICTED" in [finding.tag for finding in weighed.findings]) is not is_slight


def test_a_figure_that_contradicts_two_others_is_one_matter() -> None:
    pairs = [ruling("contradicts", "number"), ruling("contradicts", "number", "c0", "c2")]
    entry = only(weigh(MORE, LESS, OTHER, rulings=pairs))
    assert {side.value for side in entry.sides} == {"320 megawatts", "280 MW", "250 megawatts"}
