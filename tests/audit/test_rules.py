"""What code alone decides about a statement and a source."""

from hashlib import sha256

import pytest

from fathom.audit import AuditVerdict, CitedSource, ReadSource, ReportStatement
from fathom.audit.rules import decide_by_rules, recompute_written
from fathom.audit.sources import CitedText, SourcePassages
from fathom.state import Page


def decide(statement: str, *pages: str, **about: str) -> AuditVerdict:
    stated = ReportStatement.model_validate(
        {"id": "1", "text": statement, "kind": "fact", "cites": ["s1"], **about}
    )
    return decide_by_rules(stated, [read(number, page) for number, page in enumerate(pages, 1)])


def read(number: int, text: str) -> SourcePassages:
    sha = sha256(text.encode()).hexdigest()
    about = ReadSource(source=CitedSource(id=f"s{number}"), status="read", page=sha)
    page = Page(sha=sha, address="", title="", how="text", chars=len(text), fetched="")
    return SourcePassages(CitedText(about, page, text))


SOLD = "The county of Osby sold the lagoon to the town of Tarn in 2009."
BUILT = "Mirow Works built the cars, and Pelt Foundry laid the rails."
FASTER = "얕은 바다에서는 연산호가 경산호보다 빨리 자랐다."
WELCOMED = "시민단체 푸른길은 개정을 환영했지만 상인회는 비용 부담을 우려했다."


@pytest.mark.parametrize(
    ("page", "honest", "exchanged"),
    [
        (
            SOLD,
            "In 2009 the county of Osby sold the lagoon to the town of Tarn.",
            "In 2009 the town of Tarn sold the lagoon to the county of Osby.",
        ),
        (
            "The northern line is longer than the harbour line.",
            "Of the two, the northern line is longer than the harbour line.",
            "Of the two, the harbour line is longer than the northern line.",
        ),
        (
            BUILT,
            "The cars were built by Mirow Works and the rails laid by Pelt Foundry.",
            "The cars were built by Pelt Foundry and the rails laid by Mirow Works.",
        ),
        (
            FASTER,
            "얕은 바다에서는 경산호보다 연산호가 빨리 자랐다.",
            "얕은 바다에서는 연산호보다 경산호가 빨리 자랐다.",
        ),
        (WELCOMED, "푸른길은 개정을 환영했다.", "상인회는 개정을 환영했다."),
    ],
)
def test_words_that_exchanged_places_are_told_from_another_order(
    page: str, honest: str, exchanged: str
) -> None:
    assert decide(honest, page).verdict == "supported"
    assert decide(exchanged, page).verdict == "contradicted"


@pytest.mark.parametrize(
    ("page", "statement"),
    [
        (
            "Where heather was burned in strips, bumblebee numbers were higher.",
            "Burning heather in strips increases bumblebee numbers.",
        ),
        ("부두 확장과 같은 시기에 어획량이 감소했다.", "부두 확장이 어획량 감소를 일으켰다."),
    ],
)
def test_what_went_together_is_no_cause(page: str, statement: str) -> None:
    assert decide(statement, page).verdict == "partly"


def test_a_row_is_compared_with_the_row_of_the_same_label() -> None:
    table = "| Winter | Homes | kWh |\n|---|---|---|\n| 2017/18 | 240 | 5,310 |\n| 2021/22 | 4,130 | 4,420 |"
    page = f"# Homes\n\n{table}\n\nMeters were read in spring."
    assert decide("2017/18; Homes: 240; kWh a home: 5,310", page).verdict == "supported"
    assert decide("2021/22; Homes: 4,130; kWh a home: 4,240", page).verdict == "contradicted"


def test_a_share_that_can_be_computed_is_no_fault() -> None:
    page = "By April 2022 some 4,130 of its 11,800 households had a heat pump."
    assert (
        decide("By April 2022 about 35% of 11,800 households had a heat pump.", page).verdict == "supported"
    )


def test_reasons_are_in_the_language_of_the_statement() -> None:
    assert "178억" in decide("국비는 178억 원이다.", "사업비 가운데 국비가 187억 원이다.").reason
    assert not decide("국비는 178억 원이다.", "사업비 가운데 국비가 187억 원이다.").reason.isascii()
    assert decide("The grant was 5,400 euros.", "The grant was 4,500 euros.").reason.isascii()


def test_several_sources_of_a_statement_count_together() -> None:
    council, audit = (
        "By its own count the council closed 19 percent more cases.",
        "The auditors found that staff closed 8 percent more cases.",
    )
    both = "The council closed 19 percent more cases, and the auditors found 8 percent more cases."
    assert decide(both, council, audit).verdict in {"supported", "partly"}
    assert decide(both, audit).verdict == "contradicted"
    wrong = "The council closed 17 percent more cases, and the auditors found 8 percent more cases."
    assert decide(wrong, council, audit).verdict == "contradicted"


LEAVE = "Sick leave per employee was 11.8 days in 2021, 11.4 days in 2022 and 8.9 days in 2023."
FELL = "Sick leave fell by 38 percent in Alderby, 9 percent in Lund and 27 percent in Marrow Bay."


def test_a_row_may_come_from_the_clauses_of_a_sentence() -> None:
    assert decide("2022; Sick leave: 11.4 days", LEAVE).verdict == "supported"
    assert decide("2023; Sick leave: 11.4 days", LEAVE).verdict != "supported"
    assert decide("Lund; Fall in sick leave: 9 percent", FELL).verdict == "supported"
    assert decide("Alderby; Fall in sick leave: 9 percent", FELL).verdict != "supported"
    assert decide("Lund; Rise of rents: 9 percent", FELL).verdict != "supported"


def test_a_marked_conclusion_is_judged_as_one() -> None:
    conclusion = "Long queues are no fate of the short week."
    assert decide(conclusion, LEAVE).verdict == "not in the source"
    marked = decide(conclusion, LEAVE, nature="inference")
    assert (marked.verdict, "conclusion" in marked.reason) == ("partly", True)
    wrong = decide("Sick leave per employee was 12.4 days in 2022.", LEAVE, nature="inference")
    assert wrong.verdict == "contradicted"


def test_a_calculation_is_recomputed() -> None:
    said = {"nature": "calculation", "calculation": "11.8 days - 8.9 days = 2.9 days"}
    assert decide("That is 2.9 days less.", LEAVE, **said).verdict == "supported"
    assert decide("That is 2.9 days less for 512 people.", LEAVE, **said).verdict != "supported"
    said["calculation"] = "11.8 days - 8.9 days = 3.9 days"
    assert decide("That is 3.9 days less.", LEAVE, **said).verdict == "contradicted"


COSTS = "The week cost 1.9 million euros in 2025. It saved 1.2 million euros."
SICK_DAYS = "Sick leave was 11.4 days in 2022 and 7.1 days in 2025. The town has 640 employees."
STAGES = "Validation ran from May 21, 2026 to July 28, 2026."


SOURCES = [read(number, text) for number, text in enumerate((COSTS, SICK_DAYS, STAGES), 1)]


@pytest.mark.parametrize(
    "said",
    [
        "1.9 million euros - 1.2 million euros = 0.7 million euros",
        "(11.4 days - 7.1 days) * 640 = 2,752 days",
        "July 28, 2026 - May 21, 2026 = 68 days",
        "(1.9 million euros - 1.2 million euros) / 2 = 0.35 million euros",
    ],
)
def test_a_right_calculation_comes_out(said: str) -> None:
    found = recompute_written(said, SOURCES)
    assert (found.wrong, found.missing) == ("", "")
    assert found.quote is not None


@pytest.mark.parametrize(
    "said", ["1.9 million euros - 1.2 million euros = 0.8 million euros", "11.4 days - 7.1 days = 5.3 days"]
)
def test_a_wrong_one_does_not(said: str) -> None:
    assert recompute_written(said, SOURCES).wrong


def test_a_figure_that_no_source_has_is_named() -> None:
    assert recompute_written(
        "2.4 million euros - 1.2 million euros = 1.2 million euros", SOURCES
    ).missing == ("2.4 million euros")
    assert recompute_written("2 + 2 = 4", SOURCES).missing
