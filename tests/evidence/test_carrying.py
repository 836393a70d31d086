"""No lead-in makes a cheat pass, and what has little to do with its quotes is refused."""

import pytest
from adversarial import cheats

from fathom.evidence.carrying import contradicted, uncarried, without_lead_in

QUOTED = [cheat for cheat in cheats() if cheat.quote in cheat.page]


@pytest.mark.parametrize(
    "lead_in",
    ["", "Indeed: ", "In fact, ", "According to one source, ", "One study says that ", "한 출처에 따르면 "],
)
def test_no_cheat_passes_behind_a_lead_in(lead_in: str) -> None:
    passed = [c.statement for c in QUOTED if not uncarried(f"{lead_in}{c.statement}", [c.quote])]
    assert passed == []


@pytest.mark.parametrize("lead_in", ["Indeed: ", "In fact, ", "According to one source, ", "실제로 "])
def test_a_lead_in_alone_is_no_flaw(lead_in: str) -> None:
    assert uncarried(f"{lead_in}the dam was finished in 1931.", ["The dam was finished in 1931."]) == []


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("It is reported: the gate opens.", "the gate opens."),
        ("Indeed, according to one source, the gate opens.", "the gate opens."),
        ("If it rains, the gate opens.", "If it rains, the gate opens."),
        ("According to the manufacturer, it lasts.", "According to the manufacturer, it lasts."),
        ("In 2011, the gates were replaced.", "In 2011, the gates were replaced."),
        ("한 연구에 의하면 문이 열린다.", "문이 열린다."),
        ("", ""),
        ("Indeed: ", "Indeed: "),
    ],
)
def test_only_what_says_nothing_is_a_lead_in(sentence: str, bare: str) -> None:
    assert without_lead_in(sentence) == bare


def test_a_sentence_about_something_else_is_refused_in_one_language_only() -> None:
    assert uncarried("The mayor was arrested for fraud.", ["The mayor opened the park."])
    assert uncarried("The mayor was arrested.", ["The mayor opened a park by the river."])
    assert uncarried("시장이 사기 혐의로 체포되었다.", ["시장이 공원을 열었다."])
    assert uncarried("No injuries were reported.", ["부상자는 보고되지 않았다."]) == []


SPAN = "The main span of the Orla Bridge is 412 metres long."


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The main span of the Orla Bridge is 410 metres long.", SPAN),
        ("According to one source, the main span of the Orla Bridge is 410 metres long.", SPAN),
        ("The main span of the Orla Bridge is reportedly 410 metres long.", SPAN),
        ("The main span of the Orla Bridge is 410 metres long and 30 metres wide.", SPAN),
        ("The Orla Bridge opened on 3 May 1998.", "The Orla Bridge opened on 4 May 1998."),
        ("There is a crack in the western tower.", "There is no crack in the western tower."),
        ("할덴 다리의 주경간 길이는 410미터이다.", "할덴 다리의 주경간은 412미터이다."),
    ],
)
def test_quotes_that_say_otherwise_speak_against_a_sentence(sentence: str, quote: str) -> None:
    assert contradicted(sentence, [quote])
    assert uncarried(sentence, [quote])


@pytest.mark.parametrize(
    "sentence",
    [
        SPAN,
        "The main span of the Orla Bridge is about 410 metres long.",
        "The main span of the Orla Bridge is 412 metres long and 30 metres wide.",
        "Of the main span of the Orla Bridge one source says 410 metres, another 412 metres.",
        "The Orla Bridge opened in 1998.",
    ],
)
def test_what_quotes_say_or_leave_out_does_not_speak_against_a_sentence(sentence: str) -> None:
    assert contradicted(sentence, [SPAN]) == ""


def test_fair_paraphrases_pass() -> None:
    fair = cheats("paraphrases")
    refused = [p.statement for p in fair if uncarried(p.statement, [p.quote])]
    assert len(refused) <= 0.05 * len(fair)
