"""What a judging model is shown of checks and hypotheses, and what of its answer is believed.

Does not know models. Keys nobody gave mean nothing, and praise without evidence is capped.
"""

import re
from collections.abc import Mapping, Sequence

from fathom.llm import answers
from fathom.llm.port import Bearing
from fathom.state import Check, Claim, Hypothesis, Rubric

_ORDINARY = 3
_KEY = re.compile(r"\b[EC]\d+\b")


def checks_shown(checks: Sequence[Check]) -> list[str]:
    """One line a check."""
    return [f"{c.name}: {'passed' if c.is_passed else 'failed'}, {c.why}" for c in checks]


def hypotheses_shown(hypotheses: Sequence[Hypothesis]) -> list[str]:
    """One line a hypothesis, under a short key."""
    return [f"H{n}: {h.statement} (confidence {h.confidence:.2f})" for n, h in enumerate(hypotheses, 1)]


def rubric_of(answer: answers.JudgeAnswer, keyed: Mapping[str, Claim]) -> Rubric:
    """The marks, from 1 to 5; above 3 only when the evidence names claims that exist or quotes one."""
    marks = {n: min(5, max(1, getattr(answer, n))) for n in Rubric.model_fields if n != "evidence"}
    said = " ".join(answer.evidence.split())
    names = any(key in keyed for key in _KEY.findall(said))
    if not names and not any(claim.statement in said for claim in keyed.values()):
        marks = {name: min(_ORDINARY, mark) for name, mark in marks.items()}
    return Rubric(evidence=answer.evidence, **marks)


def bearings_of(
    forms: Sequence[answers.BearingForm], hypotheses: Sequence[Hypothesis], keyed: Mapping[str, Claim]
) -> list[Bearing]:
    """Which claims bear on which hypothesis, by their ids."""
    known = {f"H{n}": h.id for n, h in enumerate(hypotheses, 1)}
    return [
        Bearing(known[name], _ids(form.supporting, keyed), _ids(form.contradicting, keyed))
        for form in forms
        if (name := form.hypothesis.strip().strip("[]:")) in known
    ]


def _ids(keys: Sequence[str], keyed: Mapping[str, Claim]) -> list[str]:
    return [keyed[k].id for key in keys if (k := key.strip().strip("[]")) in keyed]
