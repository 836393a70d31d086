"""What was made of some objects is found by these very objects, and by no others."""

from fathom.identity import ByIdentity


def test_it_is_found_by_the_same_objects_in_the_same_order() -> None:
    made: ByIdentity[str] = ByIdentity(2)
    one, equal, other = [1], [1], [2]
    made.put("this", one, other)
    assert made.get(one, other) == "this"
    assert [made.get(equal, other), made.get(other, one), made.get(one)] == [None, None, None]


def test_the_oldest_is_forgotten_first() -> None:
    made: ByIdentity[int] = ByIdentity(2)
    objects = [object() for _ in range(3)]
    for number, one in enumerate(objects):
        made.put(number, one)
    assert [made.get(one) for one in objects] == [None, 1, 2]


def test_an_object_is_held_so_that_no_other_can_have_its_id() -> None:
    made: ByIdentity[int] = ByIdentity(1000)
    for number in range(1000):
        one = [number]
        assert made.get(one) is None
        made.put(number, one)
