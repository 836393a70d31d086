"""Claims that say the same are told once, and are as sure as the independent sources that say them."""

from typing import Any

import pytest
from fakes.records import DOUBTED, claim, page
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.evidence.corroboration import ClaimComparison, make_findings, make_points
from fathom.state import Claim, Finding, Page, Ruling
from fathom.text.similarity import make_sketch

# Nine ways to say four things; each place in the list has a page of its own.
SAID = [
    "The lagoon at Swale delivers 320 megawatts of tidal power.",
    "The lagoon at Swale delivers 320 MW of tidal power.",
    "The lagoon at Swale delivers 280 megawatts of tidal power.",
    "The lagoon at Swale does not deliver 320 megawatts of tidal power.",
    "Divers clean the turbines of the barrage twice a year.",
    "Divers clean the turbines of the old barrage twice a year.",
    "솔섬 조력발전소는 밀물과 썰물로 전기를 만든다.",
    "솔섬 조력발전소는 밀물과 썰물로 전기를 만들어 낸다.",
    "Silt gathers behind the dam.",
]
PAGES = [page(f"p{n}", f"https://host{n}.example/") for n in range(len(SAID))]


def claims(*places: int, **words: Any) -> list[Claim]:
    # Quotes of their own, so that two claims with one wording are not two prints of one paragraph.
    return [
        claim(SAID[n], name=f"c{n}", of=f"p{n}", said=f"{n}: {SAID[n][:20]}", relevance=0.5 + n / 20, **words)
        for n in places
    ]


def found(
    known: list[Claim], pages: list[Page] = PAGES, rulings: list[Ruling] | None = None
) -> list[Finding]:
    return ClaimComparison(known, pages, []).compare(rulings or []).findings


def same(left: str, right: str) -> Ruling:
    return Ruling(claims=sorted([left, right]), relation="same", by="model")


@pytest.mark.parametrize(
    ("count", "confidence", "tag"),
    [(1, 0.6, "LIKELY"), (2, 0.8, "HIGH"), (3, 0.95, "VERIFIED"), (7, 0.95, "VERIFIED")],
)
def test_confidence_and_tag_go_by_independent_sources(count: int, confidence: float, tag: str) -> None:
    group = [claim(name=f"c{n}", of=f"p{n}", said=f"{n} short words") for n in range(count)]
    (told,) = make_findings([group], PAGES)
    assert (told.confidence, told.tag, len(told.independent_sources)) == (confidence, tag, count)


@pytest.mark.parametrize("words", [{"verdict": DOUBTED}, {"relevance": 0.2}])
def test_one_source_that_is_weak_is_uncertain(words: dict[str, Any]) -> None:
    (told,) = make_findings([[claim(**words)]], [])
    assert (told.confidence, told.tag) == (0.6, "UNCERTAIN")


def test_what_says_the_same_is_merged_and_what_does_not_is_not() -> None:
    groups = {frozenset(finding.claims) for finding in found(claims(*range(len(SAID))))}
    assert groups == {
        frozenset({"c0", "c1"}),
        frozenset({"c2"}),
        frozenset({"c3"}),
        frozenset({"c4", "c5"}),
        frozenset({"c6", "c7"}),
        frozenset({"c8"}),
    }


def test_a_finding_speaks_with_its_strongest_claim() -> None:
    (told,) = found(claims(0, 1))
    assert told.claims == ["c1", "c0"]
    assert (told.id, told.statement) == ("c1", SAID[1])


def test_a_mind_may_merge_what_rules_cannot_tell_but_not_other_numbers() -> None:
    ferry = [
        claim("The ferry of Merrow crosses the bay in 20 minutes.", name="a", of="p0", said="a"),
        claim("Whoever boards at Merrow is ashore after 20 minutes.", name="b", of="p1", said="b"),
    ]
    assert len(found(ferry)) == 2
    (told,) = found(ferry, rulings=[same("a", "b")])
    assert (told.claims, told.tag) == (["a", "b"], "HIGH")
    counted = [
        claim("The ferry of Merrow carries 80 people at once.", name="a", of="p0", said="a"),
        claim("The ferry of Merrow may carry 90 people at once.", name="b", of="p1", said="b"),
    ]
    assert len(found(counted, rulings=[same("a", "b")])) == 2


FRAMES = [
    "The main span of the Orla Bridge is {} metres long.",
    "The main span of the Orla Bridge is {} metres long in all.",
    "할덴 다리의 주경간 길이는 {}미터이다.",
    "The Orla Bridge opened in 1998 with {} cables.",
    "Of the voters of Orla {} percent came.",
]
DENIED = [
    ("There may be a crack in the western tower of Orla.", "There is no crack in the western tower of Orla."),
    ("The Orla Bridge opened on 3 May 1998.", "The Orla Bridge opened on 4 May 1998."),
    ("오를라 다리에는 금이 있다.", "오를라 다리에는 금이 없다."),
]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FRAMES), st.lists(st.integers(2, 2000), min_size=2, max_size=4, unique=True))
def test_other_exact_figures_are_never_merged_whatever_a_mind_says(frame: str, figures: list[int]) -> None:
    known = [claim(frame.format(n), name=f"c{i}", of=f"p{i}") for i, n in enumerate(figures)]
    rulings = [same(a.id, b.id) for i, a in enumerate(known) for b in known[i + 1 :]]
    assert len(found(known, rulings=rulings)) == len(figures)


@pytest.mark.parametrize("pair", DENIED)
def test_a_denial_or_another_day_is_never_merged_whatever_a_mind_says(pair: tuple[str, str]) -> None:
    known = [
        claim(text, name=name, of=f"p{n}") for n, (name, text) in enumerate(zip("ab", pair, strict=True))
    ]
    assert len(found(known, rulings=[same("a", "b")])) == 2


def test_about_does_not_bring_two_exact_figures_together() -> None:
    span = "The main span of the Orla Bridge is {} metres long."
    told = [span.format(figure) for figure in ("about 411", "410", "412")]
    known = [
        claim(text, name=name, of=f"p{n}", relevance=0.9 - n / 10)
        for n, (name, text) in enumerate(zip("abc", told, strict=True))
    ]
    groups = [f.claims for f in found(known, rulings=[same("a", "b"), same("a", "c")])]
    assert not any({"b", "c"} <= set(group) for group in groups)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(len(SAID))), st.randoms())
def test_the_order_in_which_claims_come_does_not_matter(order: list[int], random: Any) -> None:
    pages = list(PAGES)
    random.shuffle(pages)
    weighed = ClaimComparison(claims(*order), pages, []).compare()
    assert weighed == ClaimComparison(claims(*range(len(SAID))), PAGES, []).compare()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, len(SAID) - 1), min_size=1, max_size=5, unique=True),
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["text", "owner", "paragraph", "work"])), max_size=4
    ),
)
def test_copies_never_make_a_finding_more_sure(places: list[int], copies: list[tuple[int, str]]) -> None:
    pages = [
        PAGES[n].model_copy(
            update={"sketch": make_sketch(f"{n} " * 9), "author": f"Author {n}", "title": f"Work {n}"}
        )
        for n in places
    ]
    known = claims(*places)
    long = ", and this goes on for many more words than chance would give"
    known = [
        c.model_copy(
            update={"quotes": [q.model_copy(update={"text": q.text + long + c.id}) for q in c.quotes]}
        )
        for c in known
    ]
    before = {finding.statement: finding for finding in found(known, pages)}
    for number, (which, how) in enumerate(copies):
        original, printed = known[which % len(places)], pages[which % len(places)]
        name = f"copy{number}"
        words: dict[str, Any] = {"sketch": "", "author": None, "title": name}
        words |= {"sketch": printed.sketch} if how == "text" else {}
        words |= {"author": printed.author, "title": printed.title} if how == "work" else {}
        address = f"{printed.address}{name}" if how == "owner" else f"https://{name}.example/"
        pages.append(page(name, address).model_copy(update=words))
        said = original.quotes[0].text if how == "paragraph" else f"{name} {long} {name}"
        known.append(claim(original.statement, name=f"x{number}", of=name, said=said, relevance=0.1))
    after = {finding.statement: finding for finding in found(known, pages)}
    assert {s: (f.confidence, f.tag, len(f.independent_sources)) for s, f in after.items()} == {
        s: (f.confidence, f.tag, len(f.independent_sources)) for s, f in before.items()
    }


def test_points_gather_claims_under_their_findings_and_lose_none() -> None:
    known = claims(0, 1, 4, 8)
    findings = found(known)
    points = make_points([known[0], known[3], known[2]], findings[:2])
    assert [point.ids for point in points] == [["c8"], ["c4"], ["c0"]]
    assert points[-1].finding.confidence == 0.6
    assert make_points([], findings) == []


def test_nothing_is_found_in_nothing() -> None:
    assert found([]) == []
