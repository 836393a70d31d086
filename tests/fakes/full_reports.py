"""Two whole reports with everything a report can have, in English and in Korean, made without a run.

Does not know what tests do to them.
"""

from typing import Any, cast

from fakes.records import claim, gap, judgement, page, question, quote, sha

from fathom.report.editing import summary_basis
from fathom.report.publish import publish_report
from fathom.result import ResearchResult, make_result
from fathom.state import (
    Block,
    Calculation,
    Contradiction,
    ContradictionSide,
    Cost,
    Failure,
    Finding,
    Heading,
    Operand,
    Outline,
    Query,
    Rejected,
    RunConfig,
    RunState,
    Section,
    Sentence,
    Writing,
)

HARBOUR = (
    "# Harbour Board yearbook\n\n## Ferries\n\nThe northern line carried 412,000 passengers in 2023."
    " It carried 478,000 passengers in 2024.\n\n## Fleet\n\nTwo of the six ferries run on batteries."
)
GAZETTE = (
    "# The Estuary Gazette\n\nThe new pier cost 31 million crowns."
    " Drivers now wait eleven minutes on average, down from nineteen."
    " Skippers say that the new terminal draws the tourists."
)
AUDIT = "# Audit of the pier\n\nThe auditors put the cost of the pier at 36 million crowns, fees included."
TEXTS = {sha(text): text for text in (HARBOUR, GAZETTE, AUDIT)}
PAGES = [
    page(
        HARBOUR,
        "https://harbour.example/yearbook-2024",
        title="Yearbook 2024",
        publisher="Estuary Harbour Board",
        published="2025-02-11",
    ),
    page(GAZETTE, "https://gazette.example/pier", title="A year with the new pier", published="2025-03-02"),
    page(AUDIT, "https://audit.example/reports/17", title="Report 17: the pier", publisher="County Auditor"),
]


def _said(name: str, words: str, text: str, about: str = "Q1") -> Any:
    return claim(words, name=name, quotes=[quote(words, text, text.index(words))], question=about)


CLAIMS = [
    _said("c1", "The northern line carried 412,000 passengers in 2023.", HARBOUR),
    _said("c2", "It carried 478,000 passengers in 2024.", HARBOUR),
    _said("c3", "Two of the six ferries run on batteries.", HARBOUR, "Q2"),
    _said("c4", "The new pier cost 31 million crowns.", GAZETTE, "Q2"),
    _said("c5", "Drivers now wait eleven minutes on average, down from nineteen.", GAZETTE),
    _said("c6", "The auditors put the cost of the pier at 36 million crowns, fees included.", AUDIT, "Q2"),
    _said("c7", "Skippers say that the new terminal draws the tourists.", GAZETTE),
]
GROWTH = Calculation(
    formula="(b - a) / a",
    operands=[Operand(name="a", value="412,000", claim="c1"), Operand(name="b", value="478,000", claim="c2")],
    result="16 %",
)


def _cell(text: str, row: int, column: int, *claims: str, block: int = 1, **words: Any) -> Sentence:
    status = "supported" if claims else "connective"
    kind = "fact" if claims else "link"
    given = {"text": text, "claims": list(claims), "status": status, "kind": kind, "block": block}
    return Sentence.model_validate({**given, "row": row, "column": column, **words})


def _told(text: str, *claims: str, **words: Any) -> Sentence:
    return Sentence.model_validate({"text": text, "claims": list(claims), "status": "supported", **words})


def _finding(name: str, *claims: str, sources: int = 1, tag: str = "LIKELY", about: str = "Q1") -> Finding:
    given = {"id": name, "statement": name, "question": about, "claims": list(claims), "tag": tag}
    return Finding.model_validate(
        {**given, "independent_sources": [f"{name}{n}" for n in range(sources)], "confidence": 0.7}
    )


def summed_up(sections: list[Section]) -> list[Section]:
    """The sections with a summary that is of exactly these."""
    summary, *parts = sections
    return [summary.model_copy(update={"basis": summary_basis(parts)}), *parts]


ENGLISH_SECTIONS = [
    Section(
        id="summary",
        title="Summary",
        kind="summary",
        sentences=[
            _told("The northern line carried 478,000 passengers in 2024.", "c2"),
            _told(
                "That is 16 % more than the year before.",
                "c1",
                "c2",
                kind="calculation",
                calculation=GROWTH,
            ),
            _told("The pier cost between 31 million and 36 million crowns.", "c4", "c6"),
            _told("The shorter wait is the likeliest reason for the growth.", "c2", "c5", kind="inference"),
        ],
    ),
    Section(
        id="S1",
        title="How the line grew",
        blocks=[
            Block(title="Passengers"),
            Block(kind="table", title="The line in two years", columns=["", "2023", "2024"]),
            Block(kind="bullets", title="What changed on the pier"),
        ],
        sentences=[
            _told("The Harbour Board counted 412,000 passengers in 2023 and 478,000 in 2024.", "c1", "c2"),
            _cell("Passengers", 0, 0),
            _cell("412,000", 0, 1, "c1"),
            _cell("478,000", 0, 2, "c2"),
            _cell("Change", 1, 0),
            _cell("", 1, 1),
            _cell("+16 %", 1, 2, "c1", "c2", kind="calculation", calculation=GROWTH.model_dump()),
            _told("Drivers wait eleven minutes, down from nineteen.", "c5", block=2),
            _told("Skippers credit the new terminal.", "c7", block=2),
        ],
        rejected=[
            Sentence(
                text="The line is the busiest of all.",
                claims=["c2"],
                status="unsupported",
                fault="meaning",
                why="the quote compares with no other line",
            )
        ],
    ),
    Section(
        id="S2",
        title="What it cost",
        blocks=[Block(), Block(kind="numbered")],
        sentences=[
            _told("The Gazette gives 31 million crowns for the pier.", "c4"),
            _told("The auditors count fees too and arrive at 36 million.", "c6"),
            _told("Two of the six ferries run on batteries.", "c3", block=1),
            _told("Nobody has counted their upkeep.", status="unsupported", block=1, fault="uncited"),
        ],
    ),
    Section(
        id="S3",
        title="What follows",
        kind="conclusion",
        sentences=[
            _told("The pier pays off only if the growth lasts.", "c2", "c6", kind="inference"),
            Sentence(text="Much depends on the fees.", claims=[], status="connective", kind="link"),
        ],
    ),
]
STATE: RunState = {
    "question": "How has the northern ferry line grown, and what did its pier cost?",
    "run_config": RunConfig(),
    "questions": [question(1, "How has the line grown?"), question(2, "What did the pier cost?")],
    "asked": [Query(id="r1q1", text="northern ferry passengers", question="Q1", round=1)],
    "pages": PAGES,
    "claims": CLAIMS,
    "findings": [
        _finding("f1", "c1", "c2"),
        _finding("f2", "c4", about="Q2", tag="CONTRADICTED"),
        _finding("f3", "c6", about="Q2", tag="CONTRADICTED"),
        _finding("f4", "c5", "c7", sources=2, tag="HIGH"),
    ],
    "contradictions": [
        Contradiction(
            id="x1",
            kind="number",
            question="Q2",
            about="The cost of the pier",
            sides=[
                ContradictionSide(
                    claims=["c4"], value="31 million crowns", pages=[sha(GAZETTE)], published=["2025-03-02"]
                ),
                ContradictionSide(
                    claims=["c6"], value="36 million crowns", pages=[sha(AUDIT)], published=[None]
                ),
            ],
        )
    ],
    "rejected": [
        Rejected(page=sha(GAZETTE), count=2, why="the quote is not in the page"),
        Rejected(page=sha(HARBOUR), count=1, why="the quote does not carry the statement: a name"),
    ],
    "judgements": [
        judgement(
            gaps=[gap("medium", "what the batteries cost")],
            stop="sufficient",
            because="score 0.84 of 0.80 needed",
        )
    ],
    "failures": [Failure(where="reading", what="https://closed.example/minutes", why="403")],
    "costs": [
        Cost(
            call="1", role="read", model="model-a", tokens_in=900, tokens_out=80, usd=0.004, strategy="schema"
        ),
        Cost(call="2", role="search", model="engine-b", usd=0.001, node="searcher", round=1),
    ],
    "outline": Outline(
        title="The northern line and its pier",
        headings=[
            Heading(id=f"S{n}", title=title, question=title, claims=[])
            for n, title in ((1, "How the line grew"), (2, "What it cost"), (3, "What follows"))
        ],
    ),
    "sections": summed_up(ENGLISH_SECTIONS),
}

KOREAN_TITLES = {"summary": "요약", "S1": "노선의 성장", "S2": "비용", "S3": "의미와 전망"}
KOREAN_WORDS = {
    "The northern line carried 478,000 passengers in 2024.": "북부 노선은 2024년에 478,000명을 실어 날랐다.",
    "That is 16 % more than the year before.": "이는 전년보다 16 % 늘어난 수치이다.",
    "The pier cost between 31 million and 36 million crowns.": "부두 건설비는 3,100만~3,600만 크로나이다.",
    "The shorter wait is the likeliest reason for the growth.": (
        "대기 시간 단축이 성장의 가장 유력한 이유로 보인다."
    ),
    "Passengers": "승객 수",
    "Change": "변화",
    "The line in two years": "두 해의 노선",
    "What changed on the pier": "부두에서 달라진 것",
    "The Harbour Board counted 412,000 passengers in 2023 and 478,000 in 2024.": (
        "항만청 집계로 승객은 2023년 412,000명, 2024년 478,000명이었다."
    ),
    "Drivers wait eleven minutes, down from nineteen.": "운전자의 대기 시간은 19분에서 11분으로 줄었다.",
    "Skippers credit the new terminal.": "선장들은 새 터미널 덕분이라고 말한다.",
    "The Gazette gives 31 million crowns for the pier.": "신문은 부두 건설비를 3,100만 크로나로 전한다.",
    "The auditors count fees too and arrive at 36 million.": (
        "감사원은 수수료까지 넣어 3,600만 크로나로 본다."
    ),
    "Two of the six ferries run on batteries.": "여객선 여섯 척 가운데 두 척은 배터리로 움직인다.",
    "Nobody has counted their upkeep.": "그 유지비를 집계한 곳은 없다.",
    "The pier pays off only if the growth lasts.": "성장이 이어져야 부두 투자가 회수될 것이다.",
    "Much depends on the fees.": "많은 것이 수수료에 달려 있다.",
}


def korean_sections() -> list[Section]:
    """The same sections in Korean."""

    def block(one: Block) -> Block:
        return one.model_copy(update={"title": KOREAN_WORDS.get(one.title, one.title)})

    return [
        section.model_copy(
            update={
                "title": KOREAN_TITLES[section.id],
                "blocks": [block(one) for one in section.blocks],
                "sentences": [
                    s.model_copy(update={"text": KOREAN_WORDS.get(s.text, s.text)}) for s in section.sentences
                ],
            }
        )
        for section in ENGLISH_SECTIONS
    ]


KOREAN: dict[str, Any] = {
    "question": "북부 여객선 노선은 얼마나 성장했고 부두 건설비는 얼마였나?",
    "questions": [question(1, "노선은 얼마나 성장했나?"), question(2, "부두 건설비는 얼마였나?")],
    "outline": Outline(
        title="북부 노선과 새 부두",
        headings=[
            Heading(id=name, title=title, question=title, claims=[])
            for name, title in KOREAN_TITLES.items()
            if name != "summary"
        ],
    ),
    "sections": summed_up(korean_sections()),
    "judgements": [
        judgement(
            gaps=[gap("high", "배터리 여객선의 유지비")], stop="rounds used up", because="2 of 2 rounds"
        )
    ],
}


YEARBOOK = (
    "# 統計年鑑 통계연보\n\nThe northern line carried 301,000 passengers in 2020. It carried 322,500"
    " passengers in 2021. It carried 367,000 passengers in 2022.\n\nThe island line costs 4.5 million crowns"
    " a year, the northern line 12.5 million crowns, the river line 7.25 million crowns."
)
YEARBOOK_PAGE = page(
    YEARBOOK,
    "https://stat.example/yearbooks/ferries/table?format=html&lang=ko&series=northern-line-passengers&unit=persons",
    title="統計年鑑 통계연보 2024 ひらがな",
    publisher="통계청",
    published="2024-12-01",
    author="김철수, 이영희",
)
YEARBOOK_CLAIMS = [
    _said("y0", "The northern line carried 301,000 passengers in 2020.", YEARBOOK),
    _said("y1", "It carried 322,500 passengers in 2021.", YEARBOOK),
    _said("y2", "It carried 367,000 passengers in 2022.", YEARBOOK),
    _said(
        "y3",
        "The island line costs 4.5 million crowns a year, the northern line 12.5 million crowns,"
        " the river line 7.25 million crowns.",
        YEARBOOK,
    ),
]
_SERIES = (("301,000", "y0"), ("322,500", "y1"), ("367,000", "y2"), ("412,000", "c1"), ("478,000", "c2"))
_LINES = {
    "en": (
        ("Island line", "4.5 million crowns"),
        ("Northern line", "12.5 million crowns"),
        ("River line", "7.25 million crowns"),
    ),
    "ko": (("섬 노선", "450만 크로나"), ("북부 노선", "1,250만 크로나"), ("강 노선", "725만 크로나")),
}
_FIGURE_WORDS = {
    "en": (
        "Five years in figures", "Passengers of the northern line", "What the lines cost a year",
        "The `ferry_count` of the register has **paying** passengers only, of every pier and of every day"
        " of the year, so that one year can be compared with another.",
    ),
    "ko": (
        "다섯 해의 수치", "북부 노선의 승객", "노선별 연간 비용",
        "등록부의 `ferry_count` 항목은 **유료** 승객만 세며, 모든 부두에서 일 년 내내 같은 방식으로"
        " 집계하므로 해마다 그대로 견줄 수 있다.",
    ),
}  # fmt: skip


def figures_section(language: str = "en") -> Section:
    """A section with a series and a comparison: tables that can be drawn."""
    title, series, costs, words = _FIGURE_WORDS[language]
    return Section(
        id="S4",
        title=title,
        blocks=[
            Block(kind="table", title=series, columns=["", "2020", "2021", "2022", "2023", "2024"]),
            Block(),
            Block(kind="table", title=costs, columns=["", "크로나" if language == "ko" else "Crowns"]),
        ],
        sentences=[
            _cell("승객" if language == "ko" else "Passengers", 0, 0, block=0),
            *(_cell(text, 0, place, name, block=0) for place, (text, name) in enumerate(_SERIES, 1)),
            _told(words, "c1", block=1),
            *(
                cell
                for row, (name, cost) in enumerate(_LINES[language])
                for cell in (_cell(name, row, 0, block=2), _cell(cost, row, 1, "y3", block=2))
            ),
        ],
    )


def charted_words(language: str = "en") -> dict[str, Any]:
    """What makes the report of `full_result` one with a section that has charts."""
    words = dict(KOREAN) if language == "ko" else {}
    first, second, *rest = korean_sections() if language == "ko" else ENGLISH_SECTIONS
    outline = words["outline"] if words else STATE["outline"]
    heading = Heading(id="S4", title="Figures", question="Figures", claims=[])
    parts = [outline.headings[0], heading, *outline.headings[1:]]
    return {
        **words,
        "sections": summed_up([first, second, figures_section(language), *rest]),
        "outline": outline.model_copy(update={"headings": parts}),
        "claims": [*CLAIMS, *YEARBOOK_CLAIMS],
        "pages": [*PAGES, YEARBOOK_PAGE],
    }


def state_of(**words: Any) -> RunState:
    """The state of a run that ended with the report."""
    state = cast(RunState, {**STATE, **words})
    has_quotes = state["run_config"].quotes
    return {**state, "report": publish_report(cast(Writing, state), has_quotes=has_quotes)}


def full_result(**words: Any) -> ResearchResult:
    """Its result."""
    return make_result("0a1b2c3d-0000-4000-8000-000000000000", state_of(**words), 61.0)
