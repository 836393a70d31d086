"""From outline to publishing: no sentence leaves without support, or without a mark."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from fakes.records import claim, cost, heading, judgement, page, section, sentence
from fakes.services import FakeBudget, FakeModel, FakePages

from fathom.errors import Unreadable
from fathom.evidence.checks.derivation import Passage
from fathom.evidence.controls import Trust, TrustLog
from fathom.nodes.check import check
from fathom.nodes.confirm import confirm
from fathom.nodes.draft import draft
from fathom.nodes.edit import edit
from fathom.nodes.outline import outline
from fathom.nodes.publish import publish
from fathom.nodes.rewrite import rewrite
from fathom.nodes.settle import settle
from fathom.report.drafting import check_by_code
from fathom.report.editing import apply_edit, make_candidates, make_summary
from fathom.report.outline import section_basis
from fathom.report.sentence_checks import CheckInput
from fathom.state import (
    Block,
    Calculation,
    Chapter,
    ControlTally,
    Edit,
    EditedText,
    Heading,
    Operand,
    Outline,
    Repetition,
    RunConfig,
    Section,
    Sentence,
    SummarySentence,
    Writing,
)
from fathom.state.model_io import Objection

TEXT = (
    "The Rance plant makes 240 megawatts. Its neighbour makes 90 megawatts. Divers come in spring."
    " The gates are old. In 1990 it made 200 megawatts."
)
CLAIMS = [
    claim("The Rance plant makes 240 megawatts.", name="a", of=TEXT),
    claim("Divers come in spring.", name="b", of=TEXT),
    claim("The gates are old.", name="c", of=TEXT),
    claim("In 1990 it made 200 megawatts.", name="d", of=TEXT),
]
PAGES = [page(TEXT)]
STORE = FakePages({PAGES[0].sha: TEXT})
TRUE = {
    "The Rance plant makes 240 megawatts.", "Divers come in spring.", "The gates are old.",
    "In 1990 it made 200 megawatts.", "Divers arrive in spring.", "The gates are aged.",
}  # fmt: skip


class FreshTrust:
    """Knows nothing of any checker, and keeps nothing."""

    def __init__(self, standing: Trust = "undecided") -> None:
        self.standing, self.noted = standing, list[ControlTally]()

    async def note(self, tallies: Sequence[ControlTally]) -> None:
        self.noted += tallies

    async def trust(self, verifier: str, language: str) -> Trust:
        return self.standing


TRUST = cast(TrustLog, FreshTrust())


def objecting(*bad: str, true: set[str] = TRUE) -> Callable[[CheckInput], list[Objection]]:
    """A checker who knows what is true: it objects to these statements, and to all it does not know."""

    def check_all(brief: CheckInput) -> list[Objection]:
        items = enumerate(brief.items)
        return [
            Objection(n, f"not said: {item.statement}")
            for n, item in items
            if item.statement in bad or (item.kind == "fact" and item.statement not in true)
        ]

    return check_all


def approving(brief: CheckInput) -> list[Objection]:
    """A checker who approves of everything."""
    return []


def shown(model: FakeModel) -> list[str]:
    """What the checker was asked about in the first call, controls included."""
    return [item.statement for item in model.asked[0].items]


async def outlined(*headings: Heading, title: str = "T") -> Outline:
    model = FakeModel(outlines=[Outline(title=title, headings=list(headings))], costs=[cost()])
    update = await outline(
        {"question": "What is it?", "claims": CLAIMS[:3]}, model=model, run_config=RunConfig()
    )
    assert update["costs"] == [cost()]
    return update["outline"]


async def test_a_claim_may_serve_several_headings_and_unknown_ones_serve_none() -> None:
    made = await outlined(
        heading("a", "x", "a", name=""),
        heading("y", name="", title="Costs"),
        heading("b", "a", name="Z", title="Notes"),
    )
    assert [(h.id, h.claims) for h in made.headings] == [("S1", ["a"]), ("S2", ["b", "a"])]


@pytest.mark.parametrize("headings", [[], [heading()], [heading("x", "y")]])
async def test_a_model_that_forgot_the_claims_still_leaves_a_report(headings: list[Heading]) -> None:
    made = await outlined(*headings, title="  ")
    assert made.title == "What is it?"
    assert [(h.id, h.title, h.claims) for h in made.headings] == [("S1", "What is it?", ["a", "b", "c"])]


async def test_an_outline_that_is_there_is_kept_and_costs_nothing() -> None:
    earlier = Outline(title="T", headings=[heading("a")], question="What is it?", seen=["a"])
    update = await outline(
        {"question": "What is it?", "claims": CLAIMS[:3], "outline": earlier},
        model=FakeModel(),
        run_config=RunConfig(length="800"),
    )
    assert [(h.id, h.title, h.claims) for h in update["outline"].headings] == [
        ("S1", "What is known", ["a", "b", "c"])
    ]
    assert "costs" not in update
    assert update["lengths"] == {"S1": 720}


async def test_the_outline_of_another_question_is_not_kept() -> None:
    earlier = Outline(title="T", headings=[heading("a")], question="What was it?", seen=["a"])
    model = FakeModel(outlines=[Outline(title="Report", headings=[heading("b")])])
    update = await outline(
        {"question": "What is it?", "claims": CLAIMS, "outline": earlier}, model=model, run_config=RunConfig()
    )
    assert (update["outline"].title, update["outline"].question) == ("Report", "What is it?")


async def written(*sentences: Any, blocks: list[Block] | None = None) -> Section:
    drafted = section(*sentences, title="The writer's words").model_copy(update={"blocks": blocks or []})
    model = FakeModel(written=[[drafted]])
    given: Chapter = {
        "question": "What?", "headings": [heading("a", "b")], "claims": CLAIMS[:2], "pages": PAGES,
        "outline": Outline(title="T", headings=[heading("a", "b")]), "lengths": {"S1": 120},
    }  # fmt: skip
    update = await draft(given, model=model, pages=STORE)
    brief = model.asked[0]
    assert (brief.lengths, brief.today) == ({"S1": 120}, "2025-06-01")
    assert "Its neighbour" in brief.sources[0].passages
    return update["drafts"][0]


async def test_a_section_is_written_from_its_own_claims_only() -> None:
    made = await written(
        sentence("Both.", "a", "c", "a", "b"),
        sentence("  "),
        sentence("So much.", status="supported"),
        sentence("Only unknown.", "c", "zz"),
        sentence("Unknown to the model already.", status="unsupported"),
        sentence("Tides are dangerous.", status="connective"),
    )
    assert (made.id, made.title) == ("S1", "The writer's words")
    assert made.basis == section_basis(heading("a", "b"), {c.id: c for c in CLAIMS})
    assert [(s.text, s.claims, s.status, s.fault) for s in made.sentences] == [
        ("Both.", ["a", "b"], "supported", None),
        ("So much.", [], "connective", None),
        ("Only unknown.", [], "unsupported", "unknown"),
        ("Unknown to the model already.", [], "unsupported", "unknown"),
        ("Tides are dangerous.", [], "unsupported", "uncited"),
    ]


async def test_a_link_is_left_to_the_checker_unless_it_has_a_figure_or_an_address() -> None:
    links = ["That leaves the costs.", "That leaves 7 gates.", "See www.evil.example."]
    made = await written(
        sentence("Divers come in spring.", "b"),
        *(sentence(text, status="connective").model_copy(update={"kind": "link"}) for text in links),
    )
    assert [s.status for s in made.sentences[1:]] == ["connective", "unsupported", "unsupported"]


async def test_a_table_has_names_for_its_rows_and_no_cell_without_a_claim() -> None:
    cells = [("Rance", ()), ("240 megawatts", ("a",)), ("–", ()), ("Elsewhere", ()), ("a lot", ()), ("", ())]
    rows = [
        sentence(text, *claims, status="supported" if claims else "connective").model_copy(
            update={"row": n // 3, "column": n % 3}
        )
        for n, (text, claims) in enumerate(cells)
    ]
    table = Block(kind="table", title="Power", columns=["Plant", "Power", "Note"])
    made = await written(*rows, blocks=[table])
    assert [(s.text, s.status) for s in made.sentences] == [
        ("Rance", "connective"), ("240 megawatts", "supported"), ("–", "connective"),
        ("Elsewhere", "connective"), ("a lot", "unsupported"),
    ]  # fmt: skip
    settled = (await settle(chapter(made), run_config=RunConfig()))["sections"][0]
    assert [s.text for s in settled.sentences] == ["Rance", "240 megawatts"]


async def test_a_refused_cell_is_a_dash_and_a_row_or_column_without_any_value_goes() -> None:
    rows = [["Rance", "240 MW", "9"], ["Gates", "9", "9"], ["Divers", "9", "9"], ["Spring", "200 MW", "9"]]
    rows = [[*row, "old" if row[0] == "Divers" else "9"] for row in rows]
    table = [
        sentence(text, "a", status="unsupported" if text == "9" else "supported").model_copy(
            update={"row": row, "column": column} | ({} if column else {"claims": [], "status": "connective"})
        )
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells)
    ]
    block = Block(kind="table", columns=["What", "Power", "Nothing", "State"])
    made = section(*table).model_copy(update={"blocks": [block]})
    settled = (await settle(chapter(made), run_config=RunConfig()))["sections"][0]
    assert [(s.text, s.row, s.column) for s in settled.sentences] == [
        ("Rance", 0, 0), ("240 MW", 0, 1), ("–", 0, 2),
        ("Divers", 2, 0), ("–", 2, 1), ("old", 2, 2),
        ("Spring", 3, 0), ("200 MW", 3, 1), ("–", 3, 2),
    ]  # fmt: skip
    assert settled.blocks[0].columns == ["What", "Power", "State"]


async def test_a_limit_needs_no_source_but_is_checked_against_what_is_known_to_be_missing() -> None:
    limit = Sentence(
        text="Nobody measured it.", claims=[], status="connective", kind="limit", limits=["No figures."]
    )
    drafted = await written(limit, limit.model_copy(update={"text": "7 firms refused."}), sentence("A.", "a"))
    assert [(s.status, s.kind) for s in drafted.sentences[:2]] == [("connective", "limit")] * 2
    found, model = await checked(drafted, objecting(true={*TRUE, "Nobody measured it.", "A."}))
    assert [s.status for s in found] == ["connective", "unsupported", "supported"]
    dated = limit.model_copy(update={"text": "All is from a page of 1 May 2024."})
    assert check_by_code(dated, {}, {"a": Passage(("x",), date="2024-05-01")}).status == "connective"
    item = next(item for item in model.asked[0].items if item.statement == "Nobody measured it.")
    assert (item.kind, item.limits) == ("limit", ["No figures."])


async def test_a_sub_heading_that_states_what_nobody_said_is_left_out() -> None:
    titles = ["Power of the plant", "Zanzibar wins in 2031"]
    blocks = [Block(title=title) for title in titles]
    made = await written(sentence("Divers come in spring.", "b"), blocks=blocks)
    assert [block.title for block in made.blocks] == ["Power of the plant", ""]


async def test_a_paragraph_that_came_as_one_sentence_is_checked_sentence_by_sentence() -> None:
    made = await written(sentence("Divers come in spring [E2]. They like the 7 gates. (E1)", "b"))
    assert [(s.text, s.claims) for s in made.sentences] == [
        ("Divers come in spring.", ["b"]),
        ("They like the 7 gates.", ["b"]),
    ]


def chapter(*drafts: Section, **words: Any) -> Chapter:
    """A chapter of these drafts, as its nodes get it."""
    headings = [heading("a", name=draft.id) for draft in drafts]
    given: dict[str, Any] = {
        "question": "What?", "headings": headings, "claims": CLAIMS, "pages": PAGES,
        "drafts": list(drafts), **words,
    }  # fmt: skip
    return cast(Chapter, given)


async def checked(text: Section, checker: Any) -> tuple[list[Sentence], FakeModel]:
    model = FakeModel(objections=[checker, checker], costs=[cost()])
    update = await check(chapter(text), model=model, pages=STORE, run_config=RunConfig(), trust=TRUST)
    return update["drafts"][0].sentences, model


async def test_what_code_refuses_and_what_is_quoted_is_not_shown_to_the_model() -> None:
    found, model = await checked(
        section(
            sentence("The Rance plant makes 240 megawatts.", "a"),
            sentence("The Rance plant makes 250 megawatts.", "a"),
            sentence("So much for that.", status="connective"),
            sentence("Divers arrive in spring.", "b"),
        ),
        objecting(),
    )
    assert [s.status for s in found] == ["supported", "unsupported", "connective", "supported"]
    assert "250" in found[1].why
    assert "Divers arrive in spring." in shown(model)
    assert not any("250" in text for text in shown(model))


async def test_a_title_that_may_say_too_much_is_checked_and_replaced_if_it_does() -> None:
    plain, strange = "Divers and Winter Prompts", "Zanzibar leads the world"
    blocks = [Block(title=plain), Block(kind="bullets", title=strange)]
    text = section(sentence("Divers arrive in spring.", "b"), title="Zanzibar").model_copy(
        update={"blocks": blocks}
    )

    def against_zanzibar(brief: CheckInput) -> list[Objection]:
        named = [n for n, item in enumerate(brief.items) if "Zanzibar" in item.statement]
        return [*objecting()(brief), *(Objection(n, "nobody speaks of it") for n in named)]

    model = FakeModel(objections=[against_zanzibar, against_zanzibar])
    update = await check(chapter(text), model=model, pages=STORE, run_config=RunConfig(), trust=TRUST)
    (found,) = update["drafts"]
    assert "Zanzibar" not in found.title
    assert [block.title for block in found.blocks] == [plain, ""]


async def test_an_inference_that_its_source_states_is_a_fact_and_repeats_are_asked_about_once() -> None:
    said = "Divers arrive in spring."
    inferred = sentence(said, "b").model_copy(update={"kind": "inference"})
    guessed = sentence("So the gates may soon fail.", "c").model_copy(update={"kind": "inference"})

    def stating(brief: CheckInput) -> list[Objection]:
        held = [n for n, item in enumerate(brief.items) if item.statement == said]
        return [*objecting()(brief), *(Objection(n, "", is_stated=True) for n in held)]

    found, model = await checked(section(inferred, guessed, inferred), stating)
    assert [(s.kind, s.status) for s in found] == [
        ("fact", "supported"),
        ("inference", "supported"),
        ("fact", "supported"),
    ]
    assert shown(model).count(said) == 1


async def test_what_code_only_suspects_the_checker_decides() -> None:
    given = section(sentence("In Brittany divers come in spring.", "b"))
    believed, _ = await checked(given, objecting(true={*TRUE, "In Brittany divers come in spring."}))
    assert believed[0].status == "supported"
    refused, _ = await checked(given, objecting())
    assert (refused[0].status, refused[0].fault) == ("unsupported", "meaning")


async def test_a_checker_who_approves_of_everything_leaves_the_decision_to_the_strict_rules() -> None:
    inferred = sentence("So the gates decide the costs.", "c").model_copy(update={"kind": "inference"})
    found, _ = await checked(
        section(
            sentence("In Brittany divers come in spring.", "b"),
            inferred,
            sentence("Divers arrive in spring.", "b"),
        ),
        approving,
    )
    assert [s.status for s in found] == ["unsupported", "unsupported", "supported"]


async def test_a_checker_who_was_wrong_too_often_before_is_not_believed_either() -> None:
    text = section(sentence("In Brittany divers come in spring.", "b"))
    checker = objecting(true={*TRUE, "In Brittany divers come in spring."})
    known = FreshTrust("untrusted")
    model = FakeModel(objections=[checker, checker], costs=[cost()])
    update = await check(
        chapter(text), model=model, pages=STORE, run_config=RunConfig(), trust=cast(TrustLog, known)
    )
    assert update["drafts"][0].sentences[0].status == "unsupported"
    assert known.noted and all("checker@" in tally.verifier for tally in known.noted)


async def test_a_checker_who_objects_to_what_is_true_is_asked_again() -> None:
    said = [f"Divers arrive in spring, says note {word}." for word in ("A", "B", "C", "D", "E")]
    text = section(*(sentence(words, "b") for words in said), sentence("The gates are aged.", "c"))

    def all_bad(brief: CheckInput) -> list[Objection]:
        return [Objection(n, "no") for n in range(len(brief.items))]

    model = FakeModel(objections=[all_bad, objecting(said[0], true={*TRUE, *said})])
    update = await check(chapter(text), model=model, pages=STORE, run_config=RunConfig(), trust=TRUST)
    refused = [s.text for s in update["drafts"][0].sentences if s.status == "unsupported"]
    assert refused == [said[0]]


async def test_a_claim_that_says_otherwise_is_no_longer_cited_for_sentence() -> None:
    span = "The main span of the Orla Bridge is {} metres long."
    known = [claim(span.format(n), name=f"m{n}", of=f"p{n}") for n in (410, 412)]
    text = section(sentence(span.format(410), "m410", "m412"), sentence(span.format(415), "m410", "m412"))
    update = await check(
        chapter(text, claims=known), model=FakeModel(), pages=STORE, run_config=RunConfig(), trust=TRUST
    )
    first, second = update["drafts"][0].sentences
    assert (first.status, first.claims) == ("supported", ["m410"])
    assert second.status == "unsupported"


async def test_a_section_of_quotes_needs_no_model() -> None:
    given = chapter(section(sentence("Divers come in spring", "b")))
    update = await check(given, model=FakeModel(), pages=STORE, run_config=RunConfig(), trust=TRUST)
    assert update["drafts"][0].sentences[0].status == "supported"


def computed(text: str, result: str, formula: str = "(b - a) / a * 100") -> Sentence:
    operands = [Operand(name="a", value="200 megawatts", claim="d")]
    operands.append(Operand(name="b", value="240 megawatts", claim="a"))
    made = Calculation(formula=formula, operands=operands, result=result)
    return sentence(text, "a", "d").model_copy(update={"kind": "calculation", "calculation": made})


async def test_a_calculation_is_worked_out_again_and_a_wrong_one_refused_with_the_value() -> None:
    found, model = await checked(
        section(
            computed("Since 1990 it makes 20% more.", "20%"),
            computed("Since 1990 it makes 25% more.", "25%"),
            computed("Since 1990 it makes 60 megawatts more.", "60 megawatts", "b - a"),
            sentence("Since 1990 it makes 20% more.", "a", "d"),
        ),
        objecting(),
    )
    assert [s.status for s in found] == ["supported", "unsupported", "unsupported", "unsupported"]
    assert [s.fault for s in found[:3]] == [None, "calculation", "calculation"]
    assert "gives 20" in found[1].why
    assert "gives 40" in found[2].why
    assert any("code makes it 20" in item.calculation for item in model.asked[0].items)


async def test_a_cell_is_checked_as_what_it_says_of_its_row_and_column() -> None:
    table = Block(kind="table", title="Plants", columns=["Plant", "Power"])
    cells = [
        sentence(text, *claims, status="supported" if claims else "connective").model_copy(
            update={"row": n // 2, "column": n % 2}
        )
        for n, (text, claims) in enumerate(
            [("Rance", ()), ("240 megawatts", ("a",)), ("Neighbour", ()), ("95 megawatts", ("a",))]
        )
    ]
    text = section(*cells).model_copy(update={"blocks": [table]})
    found, model = await checked(text, objecting(true={*TRUE, "Plants – Rance – Power: 240 megawatts"}))
    assert "Plants – Rance – Power: 240 megawatts" in shown(model)
    assert [s.status for s in found] == ["connective", "supported", "connective", "unsupported"]


async def test_the_models_objections_fail_what_they_name_and_nothing_else() -> None:
    text = section(
        sentence("Divers come in spring.", "b"),
        sentence("The gates are worn.", "c"),
        sentence("Divers arrive in spring.", "b"),
        sentence("It has 7 gates.", "c"),
    )

    def odd(brief: CheckInput) -> list[Objection]:
        return [*objecting("The gates are worn.")(brief), Objection(99, "x"), Objection(-1, "x")]

    found, _ = await checked(text, odd)
    assert [s.status for s in found] == ["supported", "unsupported", "supported", "unsupported"]
    assert found[1].why == "not said: The gates are worn."


async def test_a_check_that_fails_stops_the_run_where_it_stands() -> None:
    given = chapter(section(sentence("The gates are worn.", "c")))
    with pytest.raises(Unreadable):
        await check(
            given,
            model=FakeModel(objections=[Unreadable("no")]),
            pages=STORE,
            run_config=RunConfig(),
            trust=TRUST,
        )


FAILED = section(
    sentence("Divers come in spring.", "b"),
    sentence("It has 7 gates.", "c", status="unsupported"),
    sentence("It is blue.", status="unsupported"),
    sentence("It is red.", "c", status="unsupported"),
)


async def rewritten(*anew: Sentence) -> Chapter:
    model = FakeModel(rewrites=[list(anew)], costs=[cost()])
    given = chapter(section(sentence("The gates are old.", "c"), name="S0"), FAILED)
    update = await rewrite(given, model=model, pages=STORE)
    assert [s.text for s in model.asked[0].sentences] == ["It has 7 gates.", "It is blue.", "It is red."]
    return {**given, **update}


async def test_all_failed_sentences_are_rewritten_in_one_call_and_only_they_are_checked_again() -> None:
    update = await rewritten(
        sentence("The gates are aged [1].", "c"), sentence(""), sentence("Divers come in spring.", "b")
    )
    assert [s.text for s in update["drafts"][1].sentences] == [
        "Divers come in spring.", "The gates are aged.", "It is blue.", "It is red.",
    ]  # fmt: skip
    assert update["rewritten"] == [2]
    model = FakeModel(objections=[objecting()])
    again = await check(update, model=model, pages=STORE, run_config=RunConfig(), trust=TRUST)
    assert "The gates are aged." in shown(model)
    settled = (await settle({**update, **again}, run_config=RunConfig()))["sections"][1]
    assert [s.text for s in settled.sentences] == ["Divers come in spring.", "The gates are aged."]
    assert [s.text for s in settled.rejected] == ["It is blue.", "It is red."]
    assert settled.rewritten == 1


async def test_a_rewriter_is_given_the_claims_of_what_failed_or_of_its_part_where_it_named_none() -> None:
    for own, given in ((["c"], {"c"}), ([], {"a"})):
        failing = sentence("It is red.", *own, status="unsupported")
        model = FakeModel(rewrites=[[sentence("The gates are old.", "c")]])
        await rewrite(chapter(section(failing)), model=model, pages=STORE)
        assert model.asked[0].usable == given
        assert {c for point in model.asked[0].points for c in point.ids} == {claim.id for claim in CLAIMS}


async def test_a_rewriter_knows_what_is_missing() -> None:
    model = FakeModel(rewrites=[[sentence("The gates are old.", "c")]])
    await rewrite(chapter(FAILED, limits=["No costs were found."]), model=model, pages=STORE)
    assert model.asked[0].limits == ["No costs were found."]


async def test_a_rewrite_without_a_claim_or_with_too_few_answers_changes_nothing() -> None:
    update = await rewritten(sentence("So much for that.", status="connective"))
    assert (update["drafts"][1], update["rewritten"]) == (FAILED, [])


async def test_what_still_fails_is_marked_when_asked_for() -> None:
    settled = (await settle(chapter(FAILED), run_config=RunConfig(unsupported="mark")))["sections"][0]
    assert (settled.sentences, settled.rejected) == (FAILED.sentences, [])


async def test_a_section_that_only_connects_is_gone() -> None:
    text = section(
        sentence("So much for that.", status="connective"), sentence("It is red.", "c", status="unsupported")
    )
    settled = (await settle(chapter(text), run_config=RunConfig()))["sections"][0]
    assert settled.sentences == []
    assert [s.text for s in settled.rejected] == ["It is red."]


INFERRED = sentence("So the gates may soon fail.", "c").model_copy(update={"kind": "inference"})
SECTIONS = [
    section(
        sentence("The Rance plant makes 240 megawatts.", "a"),
        sentence("Divers come in spring.", "b"),
        sentence("In spring there are divers.", "b"),
    ).model_copy(update={"blocks": [Block()], "basis": "x"}),
    section(sentence("The gates are old.", "c"), INFERRED, name="S2", title="What follows").model_copy(
        update={"blocks": [Block()], "kind": "conclusion", "basis": "y"}
    ),
]
DRAFT: Writing = {
    "question": "What is it?",
    "outline": Outline(title="T", headings=[heading("a", "b"), heading("c", name="S2")]),
    "claims": CLAIMS,
    "pages": PAGES,
    "sections": SECTIONS,
    "lengths": {"S1": 100, "S2": 60},
}


async def confirmed(wanted: Edit, check: Any = None, refute: Any = None, mark: bool = False) -> Writing:
    model = FakeModel(edits=[wanted], objections=[check or objecting()], refutations=[refute or objecting()])
    state: Writing = {**DRAFT, **(await edit(DRAFT, model=model))}
    assert model.asked[0].words == 178
    run_config = RunConfig(unsupported="mark" if mark else "drop")
    return await confirm(state, model=model, pages=STORE, run_config=run_config, trust=TRUST)


async def test_a_summary_inherits_its_citations_and_comes_first() -> None:
    wanted = Edit(
        summary=[
            SummarySentence(text="The plant makes 240 megawatts.", rests_on=[1, 99]),
            SummarySentence(text="The gates may soon fail.", rests_on=[5]),
            SummarySentence(text="It makes 900 megawatts.", rests_on=[1]),
            SummarySentence(text="Nobody knows.", rests_on=[]),
        ]
    )
    true = {*TRUE, "The plant makes 240 megawatts.", "The gates may soon fail."}
    update = await confirmed(wanted, objecting(true=true), objecting(true=true))
    summary = update["sections"][0]
    assert (summary.kind, summary.id) == ("summary", "summary")
    assert [(s.text, s.claims, s.kind) for s in summary.sentences] == [
        ("The plant makes 240 megawatts.", ["a"], "fact"),
        ("The gates may soon fail.", ["c"], "inference"),
    ]
    assert update["sections"][1:] == SECTIONS


async def test_a_summary_that_names_a_row_of_a_table_rests_on_its_cells_and_they_are_shown_whole() -> None:
    cells = [
        Sentence(text="Gates", claims=[], status="connective", kind="link", row=0, column=0),
        Sentence(text="old", claims=["c"], status="supported", row=0, column=1),
    ]
    table = Block(kind="table", title="What ages", columns=["Part", "State"])
    drawn = section(*cells).model_copy(update={"blocks": [table]})
    edit = Edit(summary=[SummarySentence(text="The gates are old.", rests_on=[1])])
    (made,) = make_candidates(edit, [drawn], {one.id: one for one in CLAIMS}, {})
    assert made.sentence.claims == ["c"]
    assert "What ages – Gates – State: old" in made.grounds


async def test_a_summary_sentence_that_fails_gives_way_to_its_second_wording() -> None:
    plain = "The plant makes 240 megawatts."
    wanted = Edit(
        summary=[
            SummarySentence(text="It makes 900 megawatts.", plainer=plain, rests_on=[1]),
            SummarySentence(text="Divers come in spring.", plainer="Divers come.", rests_on=[2]),
            SummarySentence(text="The gates are new.", plainer="The gates are very new.", rests_on=[4]),
        ]
    )
    true = {*TRUE, plain, "Divers come in spring."}
    update = await confirmed(wanted, objecting(true=true), objecting(true={*true, INFERRED.text}))
    told = [s.text for s in update["sections"][0].sentences]
    assert told == [plain, "Divers come in spring."]  # a sentence of the body is not read twice


async def test_a_long_summary_is_its_answer_and_a_list() -> None:
    told = [
        "Divers come in spring.",
        "Power: the plant makes 240 megawatts.",
        "The gates are old.",
        "Limit: no cost is known.",
    ]
    summary = make_summary([sentence(one, "a") for one in told], SECTIONS, "Q", "en")
    assert summary is not None
    assert [(block.kind) for block in summary.blocks] == ["paragraph", "bullets"]
    assert [(one.block, one.text) for one in summary.sentences] == [
        (0, "Divers come in spring."),
        (0, "The gates are old."),  # no word leads it
        (1, "**Power:** the plant makes 240 megawatts."),
        (1, "**Limit:** no cost is known."),
    ]
    short = make_summary([sentence(one, "a") for one in told[:3]], SECTIONS, "Q", "en")
    assert short is not None and [block.kind for block in short.blocks] == ["paragraph"]


async def test_the_editor_cuts_what_tells_nothing_but_no_fact_and_no_claims_last_sentence() -> None:
    update = await confirmed(Edit(cuts=[1, 5, 77]), refute=lambda brief: [])
    first, second = update["sections"][1:]
    assert (len(first.sentences), [s.text for s in second.sentences]) == (3, ["The gates are old."])
    gone = Edit(cuts=[5], repetitions=[Repetition(number=4, same_as=1)])
    update = await confirmed(gone, refute=lambda brief: [])
    assert [s.text for s in update["sections"][2].sentences] == [INFERRED.text]


async def test_a_calculation_is_cut_with_the_claims_that_only_it_cites() -> None:
    figures = [Operand(name="a", value="240", claim="a"), Operand(name="b", value="24", claim="a")]
    made = Calculation(formula="a / b", operands=figures, result="10")
    computed = sentence("That is ten times as much.", "z").model_copy(
        update={"kind": "calculation", "calculation": made}
    )
    part = SECTIONS[0].model_copy(update={"sentences": [*SECTIONS[0].sentences, computed]})
    number = len(part.sentences)
    (edited,) = apply_edit(Edit(cuts=[number]), [part], [])
    assert computed not in edited.sentences


async def test_a_change_that_breaks_a_sentence_falls_back_to_the_checked_text() -> None:
    wanted = Edit(
        changes=[
            EditedText(number=1, text="The Rance plant makes 2400 megawatts."),
            EditedText(number=2, text="Divers come in autumn."),
            EditedText(number=4, text="The gates are aged."),
        ],
        repetitions=[Repetition(number=3, same_as=2), Repetition(number=2, same_as=3)],
    )
    update = await confirmed(wanted, refute=lambda brief: [])
    first, second = update["sections"][1:]
    assert [s.text for s in first.sentences] == [
        "The Rance plant makes 240 megawatts.",
        "Divers come in spring.",
    ]
    assert (second.sentences[0].text, second.sentences[0].claims) == ("The gates are aged.", ["c"])


async def test_where_no_summary_holds_the_strongest_checked_sentences_make_it() -> None:
    update = await confirmed(Edit(), refute=lambda brief: [])
    assert [s.text for s in update["sections"][0].sentences] == [
        "The gates are old.",
        "The Rance plant makes 240 megawatts.",
    ]


@pytest.mark.parametrize("mark", [False, True])
async def test_a_conclusion_that_is_refuted_is_gone_or_marked(mark: bool) -> None:
    update = await confirmed(Edit(), refute=objecting(INFERRED.text), mark=mark)
    concluding = update["sections"][-1]
    failed = [s.text for s in concluding.sentences if s.status == "unsupported"]
    assert failed == ([INFERRED.text] if mark else [])
    assert [s.text for s in concluding.rejected] == ([] if mark else [INFERRED.text])


@pytest.mark.parametrize(
    ("weaker", "expected"),
    [
        ("The gates are old and may fail one day.", "The gates are old and may fail one day."),
        ("The gates fail in 2031.", None),  # code refuses the year
        ("The gates are new.", None),  # the checker objects
    ],
)
async def test_a_refuted_conclusion_gives_way_to_a_weaker_one_that_holds(
    weaker: str, expected: str | None
) -> None:
    def refute(brief: CheckInput) -> list[Objection]:
        places = [n for n, item in enumerate(brief.items) if item.statement == INFERRED.text]
        false = [n for n in range(len(brief.items)) if n not in places]
        return [Objection(n, "too sure", instead=weaker) for n in places] + [Objection(n, "x") for n in false]

    true = {*TRUE, "The gates are old and may fail one day."}
    model = FakeModel(
        edits=[Edit()], objections=[objecting("The gates are new.", true=true)] * 2, refutations=[refute]
    )
    state: Writing = {**DRAFT, **(await edit(DRAFT, model=model))}
    update = await confirm(state, model=model, pages=STORE, run_config=RunConfig(), trust=TRUST)
    concluding = update["sections"][-1]
    assert [s.text for s in concluding.sentences if s.kind == "inference"] == ([expected] if expected else [])
    assert [s.text for s in concluding.rejected] == ([] if expected else [INFERRED.text])


async def test_an_unchecked_title_is_taken_only_if_it_states_nothing_new() -> None:
    assert (await confirmed(Edit(title="Gates and divers"), refute=lambda _: []))["outline"].title != "T"
    assert (await confirmed(Edit(title="Zanzibar wins in 2031"), refute=lambda _: []))["outline"].title == "T"


async def test_publishing_needs_nothing_but_the_state_and_tells_what_was_cut_off() -> None:
    state: Writing = {
        "question": "What is it?",
        "pages": PAGES,
        "claims": CLAIMS,
        "judgements": [judgement(stop="sufficient")],
        "outline": Outline(title="T", headings=[heading("a")]),
        "sections": [section(sentence("The Rance plant makes 240 megawatts.", "a"))],
    }
    lost = cost("cut off", 0.5)
    update = await publish(
        {**state, "costs": [cost("k")]}, budget=FakeBudget(cut_off=(cost("k"), lost)), run_config=RunConfig()
    )
    assert update["costs"] == [lost]  # nothing that was told already
    report = update["report"]
    assert (report.status, len(report.citations)) == ("complete", 1)
    assert "megawatts. [1]" in report.markdown
