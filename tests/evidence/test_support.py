"""How far quotes carry a statement is a number between nothing and all."""

import pytest
from fakes.cheats import load_cheats

from fathom.evidence.checks import parse_sentences
from fathom.evidence.support import (
    SUPPORTED_FROM,
    WEIGHTS,
    compute_support_signs,
    find_contradicting_quote,
    find_unsupported,
    is_connective,
    score_support,
    strip_lead_in,
)

QUOTED = [cheat for cheat in load_cheats() if cheat.quote in cheat.page]


@pytest.mark.parametrize(
    "lead_in",
    ["", "Indeed: ", "In fact, ", "According to one source, ", "One study says that ", "한 출처에 따르면 "],
)
def test_no_cheat_passes_behind_a_lead_in(lead_in: str) -> None:
    passed = [c.statement for c in QUOTED if not find_unsupported(f"{lead_in}{c.statement}", [c.quote])]
    assert passed == []


@pytest.mark.parametrize("lead_in", ["Indeed: ", "In fact, ", "According to one source, ", "실제로 "])
def test_a_lead_in_alone_is_no_flaw(lead_in: str) -> None:
    assert (
        find_unsupported(f"{lead_in}the dam was finished in 1931.", ["The dam was finished in 1931."]) == []
    )


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
    assert strip_lead_in(sentence) == bare


def test_a_sentence_about_something_else_is_refused_in_one_language_only() -> None:
    assert find_unsupported("The mayor was arrested for fraud.", ["The mayor opened the park."])
    assert find_unsupported("The mayor was arrested.", ["The mayor opened a park by the river."])
    assert find_unsupported("시장이 사기 혐의로 체포되었다.", ["시장이 공원을 열었다."])
    assert find_unsupported("No injuries were reported.", ["부상자는 보고되지 않았다."]) == []


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
    assert find_contradicting_quote(sentence, [quote])
    assert find_unsupported(sentence, [quote])


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
    assert find_contradicting_quote(sentence, [SPAN]) == ""


def test_fair_paraphrases_pass() -> None:
    fair = load_cheats("paraphrases")
    refused = [p.statement for p in fair if find_unsupported(p.statement, [p.quote])]
    assert len(refused) <= 0.05 * len(fair)


@pytest.mark.parametrize(
    "sentence",
    [
        "So much for that.",
        "However, in addition to that:",
        "Turning to the next question:",
        "The following section looks at the sources in detail.",
        "다음은 관련 내용이다.",
        "먼저 근거를 살펴본다.",
        "한편, 아래에서 이를 정리한다.",
    ],
)
def test_what_only_connects_is_let_through(sentence: str) -> None:
    assert is_connective(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "…",
        "Yes.",
        "It can.",
        "This is not so.",
        "None of the following.",
        "Tides are dangerous.",
        "The sources agree.",
        "The following section is from 1987.",
        "First, Zanzibar.",
        "It is safe.",
        "The question above can be answered.",
        "Much " * 20,
        "온돌은 좋다.",
        "다음은 사실이 아니다.",
        "효과가 없다.",
        "이것은 이상하다.",
        "먼저 1987년을 살펴본다.",
        "潮力很便宜。",
    ],
)
def test_what_states_something_is_not(sentence: str) -> None:
    assert not is_connective(sentence)


@pytest.mark.parametrize(
    ("statement", "quote", "is_carried"),
    [
        ("The plant makes power.", "the plant makes power from tides", True),
        ("The plant makes diamonds and gold.", "the plant makes power from tides", False),
        ("Osby is a small harbour.", "Osby is a small harbour. Few ferries call there in winter.", True),
        ("Osby is written in C#.", "Osby is written in C.", False),
        ("Osby is written in C#.", "Osby is written in C# and runs everywhere.", True),
        ("", "the plant makes power", False),
        ("The plant makes power.", "", False),
        ("발전소는 조수로 전기를 만든다.", "그 발전소는 조수로 전기를 만든다.", True),
        ("발전소는 금과 다이아몬드를 캔다.", "그 발전소는 조수로 전기를 만든다.", False),
    ],
)
def test_a_statement_is_carried_by_its_own_words(statement: str, quote: str, is_carried: bool) -> None:
    score = score_support(statement, [quote])
    assert 0.0 <= score <= 1.0
    assert (score >= SUPPORTED_FROM) is is_carried


def test_a_term_that_may_not_be_renewed_does_not_carry_one_that_may() -> None:
    quote = "The keeper of the light is appointed for a non-renewable term of five years."
    assert score_support("The keeper's term of five years is renewable.", [quote]) == 0.0


@pytest.mark.parametrize(
    ("sign", "statement", "quote", "without"),
    [
        ("comparison missing", "Osby grows the most plums in Varnland.",
         "Osby grows plums in Varnland, and ranks third.", "Osby grows plums in Varnland."),
        ("denied", "The tower can be visited after the renewal.",
         "Visitors see the tower. There is no option of renewal.", "The tower can be visited."),
        ("rarest missing", "Osby grows quinces.", "Osby grows plums.", "Osby grows plums."),
    ],
)  # fmt: skip
def test_what_speaks_against_it_is_a_sign(sign: str, statement: str, quote: str, without: str) -> None:
    told = parse_sentences(quote)
    assert WEIGHTS[sign] < 0
    assert compute_support_signs(statement, told, told[:2])[sign] > 0
    assert compute_support_signs(without, told, told[:2])[sign] == 0


def test_what_a_statement_ends_with_has_to_be_known() -> None:
    told = parse_sentences("The harbour of Osby was dredged by convicts.")
    assert compute_support_signs("The harbour of Osby was dredged by convicts.", told, told)["its end"] == 1.0
    assert compute_support_signs("The harbour of Osby was sold to speculators.", told, told)["its end"] == 0.0
