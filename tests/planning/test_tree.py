"""How a tree of directions grows: best first, parents in turn, barren parts pruned."""

from typing import Any

from fakes.records import claim, gap, query

from fathom.planning.tree import direction_worth, follow_up_queries, grow_tree, rate_direction
from fathom.state import Direction


def direction(name: str, **words: Any) -> Direction:
    parent = name.rpartition(".")[0]
    given = {"text": f"way {name}", "angle": "x", "rounds": 1, "queries": 2, "sources": 2, **words}
    return Direction(id=name, parent=parent, level=name.count(".") + 1, **given)


def explored(name: str, claims: int = 4, **words: Any) -> Direction:
    status = "explored" if claims else "empty"
    return direction(name, status=status, claims=claims, asked=2, **words)


def test_the_next_level_comes_from_what_branches_left_open() -> None:
    tree, chosen = grow_tree(
        [explored("b1", leads=["silt at Ouseport"]), explored("b2", 0, leads=["x"])], 2, 5
    )
    assert [(one.id, one.text, one.parent, one.level) for one in chosen] == [
        ("b1.1", "silt at Ouseport", "b1", 2)
    ]
    assert [one.id for one in tree] == ["b1", "b2", "b1.1"]
    assert chosen[0].score == rate_direction(chosen[0], tree)


def test_an_empty_direction_leads_nowhere() -> None:
    assert grow_tree([explored("b1", 0, leads=["a", "b"])], 2, 5)[1] == []


def test_the_richer_direction_goes_first_and_parents_take_turns() -> None:
    poor, rich = explored("b1", 1, leads=["p one", "p two"]), explored("b2", 9, leads=["r one", "r two"])
    _, chosen = grow_tree([poor, rich], 2, 2)
    assert chosen[0].parent == "b2"
    _, three = grow_tree([explored("b1", 8, leads=["p one", "p two"]), rich], 2, 3)
    assert {one.parent for one in three[:2]} == {"b1", "b2"}


def test_what_was_not_chosen_stays_open_for_a_later_level() -> None:
    tree, chosen = grow_tree([explored("b1", leads=["one", "two", "three"])], 2, 1)
    assert len(chosen) == 1
    later, again = grow_tree([explored(one.id) if one.id == chosen[0].id else one for one in tree], 3, 1)
    assert again[0].level == 3
    assert again[0].id != chosen[0].id
    assert len({one.id for one in later}) == len(later)


def test_beside_two_empty_directions_nobody_goes_a_third_time() -> None:
    tree = [
        explored("b1", leads=["a", "b", "c"]),
        explored("b1.1", 0),
        explored("b1.2", 0),
        direction("b1.3"),
    ]
    grown_up, chosen = grow_tree(tree, 3, 5)
    pruned = next(one for one in grown_up if one.id == "b1.3")
    assert (pruned.status, pruned.because) == ("pruned", "2 directions beside it came back empty")
    assert "b1.3" not in {one.id for one in chosen}


def test_a_text_is_a_direction_once_however_it_is_written() -> None:
    _, chosen = grow_tree([explored("b1", text="Tidal silt", leads=["tidal  SILT?"]), explored("b2")], 2, 5)
    assert chosen == []


def test_a_direction_is_worth_what_it_and_its_children_brought() -> None:
    tree = [explored("b1", 4), explored("b1.1", 0), explored("b10", 9)]
    assert direction_worth(tree[0], tree) == 1.0
    visits = {one.id: one.visits for one in grow_tree(tree, 3, 1)[0]}
    assert visits == {"b1": 2, "b1.1": 1, "b10": 1}


def test_growing_again_changes_nothing() -> None:
    tree, chosen = grow_tree([explored("b1", leads=["one", "two"]), explored("b2", leads=["three"])], 2, 2)
    assert grow_tree(tree, 2, 2) == (tree, chosen)


def test_leads_are_gaps_and_names_but_never_what_was_asked() -> None:
    claims = [claim("Silt limits the Ouseport barrage.", "c1"), claim("They dredge at Ouseport now.", "c2")]
    gaps = [gap("low"), gap("high").model_copy(update={"suggested_query": "What does dredging cost?"})]
    found = follow_up_queries("How much does tidal power cost?", gaps, claims, [query("silt")])
    assert found == ["What does dredging cost?", "Tidal power cost Ouseport"]
    assert follow_up_queries("What does dredging cost?", gaps, [], []) == []
