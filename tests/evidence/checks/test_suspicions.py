"""What code shows to the verifier: the cheats it knows, and few of the fair statements."""

import pytest
from fakes.cheats import Cheat, load_cheats

from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.checks.suspicions import find_suspicions

# Quotes that are not in their page are refused when they are looked up, before anybody compares them.
_OTHER_RULES = {"altered quote", "other page", "splice"}


def is_noticed(case: Cheat) -> bool:
    passage = Passage((case.quote,), around=case.page)
    return bool(find_underived(case.statement, passage) or find_suspicions(case.statement, passage))


@pytest.mark.parametrize("name", ["cheats", "cheats_held_out"])
def test_nine_of_ten_cheats_are_refused_or_shown_to_the_verifier(name: str) -> None:
    cases = [case for case in load_cheats(name) if case.kind not in _OTHER_RULES]
    assert sum(is_noticed(case) for case in cases) >= 0.9 * len(cases)


@pytest.mark.parametrize("name", ["paraphrases", "paraphrases_held_out"])
def test_fair_paraphrases_are_never_refused_and_seldom_flagged(name: str) -> None:
    cases = load_cheats(name)
    assert [
        c.statement for c in cases if find_underived(c.statement, Passage((c.quote,), around=c.page))
    ] == []
    assert sum(is_noticed(case) for case in cases) <= 0.25 * len(cases)


@pytest.mark.parametrize(
    ("statement", "quote", "kind"),
    [
        ("시장 규모는 3만 건으로 전년보다 컸다.", "시장은 3만 건 증가했다.", "figure"),
        ("전문가들은 효과가 있다고 말했다.", "한 전문가는 효과가 있다고 말했다.", "speaker"),
        ("현재 실업률은 4%다.", "2019년 실업률은 4%였다.", "now"),
        (
            "The mechanism decouples the layers.",
            "We are exploring a mechanism to decouple the layers.",
            "possible",
        ),
        ("혼인이 출생의 원인이다.", "Births tend to follow weddings.", "cause"),
        ("The rate went from 2% to 3%.", "The rate was moved to 2% from 3%.", "figure"),
        (
            "노조는 값이 비싸다고 말했다.",
            "시민은 값이 비싸다고 말했다. 노조는 품질이 낮다고 말했다.",
            "other words",
        ),
        ("전기버스는 635km를 달린다.", "수소버스가 635km, 전기버스가 420km를 달린다.", "figure"),
        ("2025년 소득은 300만 원이다.", "2024년 소득은 300만 원이다.", "date"),
        ("값은 1년 전보다 20% 올랐다.", "값은 3년 전보다 20% 올랐다.", "year_before"),
        ("규제로 매출이 20% 줄었다.", "규제 뒤 매출은 20% 적었다.", "cause"),
        ("Memory use and latency fall.", "Latency falls. Memory use stays the same.", "unchanged"),
        ("회원은 65명이다.", "남자 회원은 40명, 여자 회원은 25명이다.", "calculation"),
        (
            "Berth A took 7 ships in 2022.",
            "Berth A took 9 ships in 2023 and 7 in 2021, none in 2022.",
            "figure",
        ),
        ("환자의 85%가 앓았다.", "사망자의 85%가 앓았다.", "other words"),
        ("The list has four gaps.", "The list has gaps.", "count"),
        (
            "Salmon and trout quotas were left alone.",
            "Salmon and perch quotas were left alone. Trout was put off.",
            "other words",
        ),
        ("지난해 매출은 30억 원이었다.", "지난해 1분기 매출은 30억 원이었다.", "quarter"),
        ("시는 요금을 올리기로 했다.", "시는 요금 인상을 검토하고 있다.", "decided"),
        ("It works down to 22 °C.", "It works down to minus 22 °C.", "figure"),
        (
            "The hill tram costs £4, and the harbour ferry £6.",
            "| Route | 2025 | 2026 |\n|---|---|---|\n| Hill tram | £3 | £4 |\n| Harbour ferry | £6 | £7 |",
            "figure",
        ),
        (
            "In 2026 the hill tram costs £3.",
            "| Route | 2025 | 2026 |\n|---|---|---|\n| Hill tram | £3 | £4 |\n| Harbour ferry | £6 | £7 |",
            "figure",
        ),
        ("SEP-2106 defines the format.", "The proposal defines the format.", "name"),
        ("Roos called the tax unfair.", "The fishers' union called the tax unfair.", "speaker"),
        ("Osby sold the lagoon to Tarn.", "Tarn sold the lagoon to Osby.", "who and what"),
        ("The school admitted 23,578 students.", "학교에는 2만 3,578명이 지원했다.", "contrast"),
        ("독일의 수출은 3% 줄었다.", "German exports rose by 3%.", "contrast"),
        ("수입액은 41억 달러로, 수출보다 적었다.", "Exports came to $4.1bn, imports to $5bn.", "contrast"),
        ("The area was home to twice as many people.", "인구의 증가율은 두 배에 이른다.", "growth"),
        ("Delft researchers built the pump.", "Engineers of the National Laboratory built the pump.", "name"),
    ],
)
def test_what_is_odd_is_told_by_its_kind(statement: str, quote: str, kind: str) -> None:
    assert kind in {found.kind for found in find_suspicions(statement, Passage((quote,)))}


def test_a_statement_that_is_its_quote_is_not_suspected() -> None:
    text = "The barrage may have up to 24 turbines, but only in winter."
    assert find_suspicions(text, Passage((text,))) == []


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("법은 22일부터 시행된다.", "법은 오는 22일부터 시행된다."),
        ("관중은 2년 연속 1000만 명이다.", "두 해 연속 1천만 관중이다."),
        ("LG는 85승 3무 56패로 1위에 올랐다.", "85승 3무 56패를 거둔 LG가 1위다."),
        ("The plague killed 250,000.", "The plague, probably brought by troops, killed 250,000."),
        (
            "Visits rose to 3 million in the third quarter of 2025.",
            "2025년 3분기 방문은 300만 건으로 늘었다.",
        ),
        ("Exports rose and imports fell.", "수출은 늘고 수입액은 줄었다."),
        ("열 번 가운데 7만 원씩 70만 원을 냈다.", "그는 7만 원씩 열 번 냈다."),
        ("Latency fell from 840 ms to 310 ms.", "Latency drops from 840 ms to 310 ms."),
    ],
)
def test_fair_wording_is_not_suspected(statement: str, quote: str) -> None:
    assert find_suspicions(statement, Passage((quote,))) == []


def test_a_year_is_compared_with_what_last_year_means_on_the_page() -> None:
    told = Passage(("지난해 여름은 1973년 이후 가장 더웠다.",), date="2026-05-22")
    assert [found.kind for found in find_suspicions("2026년 여름은 1973년 이후 가장 더웠다.", told)] == [
        "date"
    ]
    assert find_suspicions("2025년 여름은 1973년 이후 가장 더웠다.", told) == []


def test_odd_input_costs_no_seconds() -> None:
    for unit in ("1", "1,", "a, ", "가", "1-", "("):
        text = unit * 20_000
        assert find_suspicions(text, Passage((text + ".",))) is not None


def test_a_plain_difference_and_an_attribution_are_nothing_to_look_at() -> None:
    grown = Passage(("하루 이용은 4만 2천 건에서 5만 3천 건으로 늘었다.",))
    assert find_suspicions("하루 이용은 1만 1천 건 늘었다.", grown) == []
    told = Passage(("오를라의 한 교수는 배차가 요금보다 중요하다고 설명했다.",))
    assert find_suspicions("오를라의 한 교수에 따르면 배차가 요금보다 중요하다.", told) == []
