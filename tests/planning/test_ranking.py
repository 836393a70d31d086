"""Ten to choose from in three families; a few are chosen by worth and difference."""

import pytest
from fakes.records import claim, query, question

from fathom.planning.queries import (
    MAX_ANGLES,
    MIN_CANDIDATES,
    QueryCandidate,
    QueryTheme,
    broaden_topic,
    collect_candidates,
    detect_family,
    extract_topic,
    family_queries,
    find_unused_words,
    queries_from_other_angles,
    read_family,
)
from fathom.planning.ranking import (
    choose_queries,
    feasibility,
    make_scoring_context,
    order_open_questions,
    rate_families,
    score_query,
)
from fathom.state import Family, Gap, Lesson, Query, RunConfig

THEME = QueryTheme(
    "How much does tidal power cost?", 1, [question(1, "How much does tidal power cost?")], ["Harm to fish"]
)


def counter(text: str = "criticism of tidal power") -> Query:
    return query(text).model_copy(update={"family": "counter"})


@pytest.mark.parametrize("own", [[], [query("tides")], [query(f"tides {n}") for n in range(30)]])
def test_there_are_at_least_ten_candidates_whatever_a_model_gives(own: list[Query]) -> None:
    found = collect_candidates(own, THEME)
    assert len(found) >= MIN_CANDIDATES
    assert [c.query for c in found[: len(own)]] == own
    assert len({c.query.text for c in found}) == len(found)


def test_the_three_families_are_there_in_english_and_korean() -> None:
    korean = QueryTheme("조력 발전소는 안전한가?", 1, [question(1, "조력 발전소는 안전한가?")], ["어민"])
    for theme in (THEME, korean):
        found = collect_candidates([], theme)
        assert {c.query.family for c in found} == {"web", "academic", "counter"}
        assert all(detect_family(c.query.text) == c.query.family for c in found)
    assert "조력 발전소 비판" in [c.query.text for c in collect_candidates([], korean)]
    assert any("fish" in c.query.text for c in collect_candidates([], THEME))


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("How much does tidal power cost?", "tidal power cost"),
        ("Who built the lagoon at Swale?", "built lagoon Swale"),
        ("Where is the WHO?", "WHO"),
        ("온돌의 원리는 무엇인가?", "온돌 원리"),
        ("고양이를 보는 방법", "고양이 보는 방법"),
        ("?", ""),
    ],
)
def test_a_topic_is_what_a_question_is_about(text: str, about: str) -> None:
    assert extract_topic(text) == about


@pytest.mark.parametrize(
    ("word", "family"), [("web", "web"), ("Counter-evidence", "counter"), ("academic", "academic")]
)
def test_a_family_goes_by_its_name_and_else_by_its_words(word: str, family: Family) -> None:
    assert read_family(word, "tides") == family
    assert read_family("", family_queries("tides", family)[0]) == family


def test_a_query_with_an_open_place_or_no_words_cannot_be_asked() -> None:
    assert feasibility(query("{Q1} birthplace")) == feasibility(query("?!")) == 0
    assert feasibility(query("tides")) < feasibility(query("tidal power cost"))
    assert feasibility(query('site:a "b" "c" (d)')) < feasibility(query("a b c d"))
    assert feasibility(query("조력 발전소 비용")) == 1


def test_papers_are_worth_less_where_no_engine_finds_them() -> None:
    assert rate_families(RunConfig(docs=["x"]))["academic"] < rate_families(RunConfig())["academic"] < 1
    for run_config in (RunConfig(academic=True), RunConfig(engines=["arxiv"]), RunConfig(engines=["hybrid"])):
        assert rate_families(run_config)["academic"] == 1


def test_what_is_open_wanted_and_new_is_worth_more() -> None:
    asked = [question(1), question(2)]
    wanted = Gap(description="d", priority="high", suggested_query="x", question="Q2")
    at = make_scoring_context(asked, [claim(question="Q1")], [wanted], [query("tides and moon")])
    answered, still_open = (query("sun and wind", about=name) for name in ("Q1", "Q2"))
    assert score_query(still_open, at) > score_query(answered, at)
    assert score_query(still_open, at) > score_query(query("tides and moon", about="Q2"), at)


def test_what_failed_before_is_worth_less() -> None:
    failed = [
        Lesson(
            query=f"r1q{n}", text="tidal power cost", question="Q1", family="web", round=1, pages=1, claims=0
        )
        for n in range(3)
    ]
    plain = make_scoring_context([question(1)], [], [], [])
    taught = make_scoring_context([question(1)], [], [], [], failed)
    same, other = (
        query("tidal power cost today"),
        query("barrage gates").model_copy(update={"family": "academic"}),
    )
    assert score_query(same, taught) < score_query(same, plain)
    assert score_query(other, taught) == score_query(other, plain)


def test_the_planners_order_is_kept_and_the_limit_holds() -> None:
    own = [query(f"tidal power {n}", about="Q1") for n in range(9)]
    offered = [*map(QueryCandidate, own), QueryCandidate(query("silt", about="Q3"), "code")]
    at = make_scoring_context([question(n) for n in (1, 2, 3)], [], [], [])
    for limit in (1, 3, 5):
        assert choose_queries(offered, at, limit, ["Q3", "Q1"]) == own[:limit]
    assert choose_queries([], at, 5, ["Q1"]) == []


def test_where_there_is_room_an_open_sub_question_without_a_query_gets_one() -> None:
    offered = [QueryCandidate(query(f"tidal {word}", about="Q1")) for word in ("gates", "nets", "silt")]
    offered += [QueryCandidate(query("fishermen's income", about="Q2"), "code")]
    at = make_scoring_context([question(1), question(2)], [], [], [])
    assert [q.question for q in choose_queries(offered, at, 5, ["Q1", "Q2"])] == ["Q1", "Q1", "Q1", "Q2"]


def test_what_cannot_be_asked_is_passed_over() -> None:
    offered = [QueryCandidate(query("{Q1} birthplace")), QueryCandidate(query("tidal gates"))]
    assert [
        q.text for q in choose_queries(offered, make_scoring_context([question(1)], [], [], []), 1, [])
    ] == ["tidal gates"]


def test_of_codes_own_ideas_unlike_ones_come_first() -> None:
    offered = [
        QueryCandidate(query("tidal power cost")),
        *(QueryCandidate(query(text), "code") for text in ("tidal power costs today", "harm to seals")),
    ]
    at = make_scoring_context([question(1)], [], [], [])
    assert [q.text for q in choose_queries(offered, at, 2, [])] == ["tidal power cost", "harm to seals"]


def test_a_doubt_of_the_planners_own_that_came_too_late_takes_the_last_place() -> None:
    own = [*(query(f"tidal {word}") for word in ("gates", "nets", "silt")), counter("limits of tidal power")]
    known = make_scoring_context([question(1)], [claim()], [], [], is_doubting=True)
    found = choose_queries([*map(QueryCandidate, own), QueryCandidate(counter(), "code")], known, 3, ["Q1"])
    assert [q.text for q in found] == ["tidal gates", "tidal nets", "limits of tidal power"]


def test_once_something_is_known_one_query_doubts_it() -> None:
    offered = [QueryCandidate(query(f"tidal {word}")) for word in ("gates", "nets", "silt", "cable")] + [
        QueryCandidate(counter(), "code")
    ]
    known = make_scoring_context([question(1)], [claim()], [], [], is_doubting=True)
    unknown = make_scoring_context([question(1)], [], [], [])
    assert "counter" in {q.family for q in choose_queries(offered, known, 4, ["Q1"])}
    assert "counter" not in {q.family for q in choose_queries(offered, unknown, 4, ["Q1"])}
    assert [q.family for q in choose_queries(offered, known, 1, ["Q1"])] == ["web"]


def test_code_adds_its_own_ideas_only_up_to_three() -> None:
    offered = [
        QueryCandidate(query("tides")),
        *(QueryCandidate(query(f"{word} now"), "code") for word in ("a1", "b2", "c3", "d4")),
    ]
    assert len(choose_queries(offered, make_scoring_context([question(1)], [], [], []), 5, [])) == 3


def test_what_was_never_asked_comes_first_and_what_stays_empty_goes_without() -> None:
    asked = [query(f"t{n}", f"r1q{n}", "Q1") for n in range(5)]
    assert order_open_questions(["Q1", "Q2"], asked, [], {}) == ["Q2"]
    assert order_open_questions(["Q1", "Q2"], asked[:1], [claim(question="Q1")], {}) == ["Q2", "Q1"]
    assert order_open_questions(["Q1", "Q2"], [], [], {"Q2": 1.0}) == ["Q2", "Q1"]


def test_the_angle_is_changed_a_bounded_number_of_times() -> None:
    findings = [claim(f"The barrage at Merrow has {n} gates of steel.", name=str(n)) for n in range(50)]
    found = queries_from_other_angles(THEME, findings, [query("tidal power cost")])
    assert len(found) <= MAX_ANGLES
    texts = [q.text for q in found]
    assert {"criticism of tidal power cost", "tidal power cost overview"} <= set(texts)
    assert any("Merrow" in text for text in texts)
    assert "Merrow" in find_unused_words(findings, []) and "Merrow" not in find_unused_words(
        findings, [query("Merrow")]
    )
    assert broaden_topic("Who paid for the barrage of Ouseport in 1987?") == "Ouseport"
