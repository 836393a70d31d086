"""A stand-in model that does a researcher's work by rule: it plans, quotes, verifies, judges and writes.

Does not know servers. What it says has about the length that models give; it reads everything out of prompts.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_ASPECTS = ("cost", "history", "risks", "technology", "outlook")
_CLAIMS, _SENTENCES, _SUMMARY = 5, 8, 4
Form = dict[str, Any]


def filled(form: str, text: str, is_satisfied: bool = True) -> Form:
    """The form of that name, filled in from a prompt; a judge may be one who always misses something."""
    if form == "JudgeAnswer":
        return _judge(text, is_satisfied)
    return _FORMS[form](text)


def asked_for(request: Mapping[str, Any]) -> tuple[str, str]:
    """How a form is asked for (schema, tool or words), and its name; without a name if it is none of ours."""
    if tools := request.get("tools"):
        rung, name = "tool", tools[0]["function"]["name"]
    elif wanted := request.get("response_format"):
        rung, name = "schema", wanted.get("json_schema", {}).get("name", "")
    else:  # an example of the form, in what follows the prompt
        said = "\n".join(str(message["content"]) for message in request["messages"][2:])
        shown = re.search(r'^\{"\w+".*', said, re.MULTILINE | re.DOTALL)
        fields = re.findall(r'"(\w+)": ', shown.group(0)) if shown else []
        rung, name = "words", next((form for field, form in _TELLING_FIELDS.items() if field in fields), "")
    return rung, name if name in _TELLING_FIELDS.values() else ""


def fenced(name: str, text: str) -> str:
    """What stands between the tags of that name."""
    found = re.search(rf"<{name}-(\w+)>\n(.*?)\n</{name}-\1>", text, re.DOTALL)
    return found.group(2) if found else ""


def _plan(text: str) -> Form:
    question = fenced("question", text).rstrip("?")
    parts = [{"id": f"Q{n}", "text": f"{question}: {a}?"} for n, a in enumerate(_ASPECTS, 1)]
    later = re.search(r"Round (\d+)\. At most", text)
    narrower = f" site {later.group(1)}" if later and later.group(1) != "1" else ""
    return {
        "strategy": "Look at each aspect by itself, then at what speaks against it.",
        "kind": "survey",
        "perspectives": ["those who pay", "those who run it", "a critic"],
        "questions": [{**part, "needs": [], "perspective": "those who pay"} for part in parts],
        "queries": [
            {"question": f"Q{n}", "text": f"{aspect} {question}{narrower}", "family": "web"}
            for n, aspect in enumerate(_ASPECTS, 1)
        ],
        "hypotheses": [],
    }


def _read(text: str) -> Form:
    sentences = re.findall(r"[A-Z가-힣][^.#\n]{25,300}\.", fenced("passages", text))
    ids = re.findall(r"^(?:- )?(Q\d+): (.*)$", text, re.MULTILINE)
    claims = []
    for sentence in sentences:
        words = set(re.findall(r"\w+", sentence.lower()))
        about = next((q for q, asked in ids if words & set(re.findall(r"\w+", asked.lower())[-1:])), "Q1")
        said = {"question": about, "quotes": [sentence], "statement": f"It is reported: {sentence}"}
        claims.append({**said, "relevance": 0.9})
    # One of each aspect before a second one of any.
    seen: Counter[str] = Counter()
    ranked = []
    for claim in claims:
        seen[str(claim["question"])] += 1
        ranked.append((seen[str(claim["question"])], claim))
    return {"claims": [claim for _, claim in sorted(ranked, key=lambda pair: pair[0])[:_CLAIMS]]}


def _verify(text: str) -> Form:
    verdict = {"is_explicit": True, "is_same_scope": True, "is_not_overstated": True, "score": 0.95}
    items = re.findall(r"^Item (\d+).*\nStatement: (.*)\nQuote: (.*)", text, re.MULTILINE)
    return {
        "verdicts": [
            {"item": int(number), "reason": "", **verdict, "score": 0.95 if quote in said else 0.1}
            for number, said, quote in items
        ]
    }


def _retry(_: str) -> Form:
    return {"restated": []}


def _judge(text: str, is_satisfied: bool) -> Form:
    asked = re.findall(r"^(?:- )?(Q\d+): (.*)$", text, re.MULTILINE)
    keys = re.findall(r"(E\d+) \(for (Q\d+)[^)]*\)", text)
    number = len(keys)
    gaps = [
        {
            "question": q,
            "description": f"More on {t}",
            "priority": "high",
            "suggested_query": f"{_ASPECTS[(n + number) % 5]} site {number * 7 + n} {t}",
        }
        for n, (q, t) in enumerate(asked)
        if not is_satisfied
    ]
    quoted = "; ".join(re.findall(r"E\d+ \(for Q\d+[^)]*\): [^\n]{0,160}", text)[:5])
    marks = {"accuracy": 4, "relevance": 4, "completeness": 4 if is_satisfied else 2, "consistency": 4}
    confidence = 0.8 if is_satisfied else 0.3
    parts = [
        {**part, "id": "", "aim": f"What is known of {part['title']}", "lacks": "", "priority": "medium"}
        for part in _sections(keys)
    ]
    outlined = {"title": "A survey", "parts": parts}
    return {"evidence": quoted, **marks, **outlined, "gaps": gaps[:5], "confidence": confidence}


def _outline(text: str) -> Form:
    return {"title": "A survey", "sections": _sections(re.findall(r"(E\d+) \(for (Q\d+)\)", text))}


def _sections(keys: Sequence[tuple[str, str]]) -> list[Form]:
    return [
        {"title": f"The {aspect}", "question": f"Q{n}", "claims": [k for k, q in keys if q == f"Q{n}"]}
        for n, aspect in enumerate(_ASPECTS, 1)
    ]


def _write(text: str) -> Form:
    """All parts that the prompt asks for, each with its own claims; else with those it may also use."""
    shown = fenced("claims", text)
    claims = dict(re.findall(r"^(E\d+): (.*)$", shown, re.MULTILINE))
    parts = re.split(r"^Part (\S+): .*$", shown, flags=re.MULTILINE)[1:]
    blocks = [_block(name, said, claims) for name, said in zip(parts[::2], parts[1::2], strict=True)]
    return {"blocks": blocks, "calculations": []}


def _block(part: str, text: str, known: Mapping[str, str]) -> Form:
    own = re.findall(r"^(E\d+): ", text, re.MULTILINE)
    again = re.search(r"may also use, from above: (.*)", text)
    keys = own or (again.group(1).split(", ") if again else [])
    claims = [(key, known[key]) for key in keys if key in known]
    sentences = [{"text": said, "kind": "fact", "claims": [key]} for key, said in claims[:_SENTENCES]]
    return {"part": part, "kind": "paragraph", "title": "", "sentences": sentences, "columns": [], "rows": []}


def _rewrite(text: str) -> Form:
    claims: Mapping[str, str] = dict(re.findall(r"^(E\d+): (.*)$", fenced("claims", text), re.MULTILINE))
    failed = re.findall(r"^Sentence (\d+) \((E\d+)?", fenced("sentences", text), re.MULTILINE)
    return {
        "rewrites": [
            {"sentence": int(n), "text": claims.get(k, ""), "claims": [k] if k else []} for n, k in failed
        ]
    }


def _check(text: str) -> Form:
    """Objects to a sentence with a figure that nothing it stands on has."""
    evidence = dict(re.findall(r"^  (E\d+)(?: \[.*?\])?: (.*)$", text, re.MULTILINE))
    items = re.findall(r"^Sentence (\d+) \(\w+\): (.*)\n((?:  .*\n?)*)", text, re.MULTILINE)
    objections = []
    for number, said, rest in items:
        own = re.sub(r"^ +around it: .*", "", rest, flags=re.MULTILINE)  # says it of something else
        told = " ".join([*(evidence.get(key, "") for key in re.findall(r"E\d+", own)), own])
        strange = [figure for figure in re.findall(r"\d[\d.,]*\d|\d", said) if figure not in told]
        if rest and strange:
            objections.append({"sentence": int(number), "why": f"nothing gives {', '.join(strange)}"})
    return {"objections": objections}


def _edit(text: str) -> Form:
    found = re.findall(r"^\[(\d+)\] (.*)$", fenced("draft", text), re.MULTILINE)
    summary = [{"text": said, "rests_on": [number]} for number, said in found[:_SUMMARY]]
    return {"title": "", "summary": summary, "changes": [], "repetitions": [], "links": []}


_FORMS: dict[str, Callable[[str], Form]] = {
    "PlanAnswer": _plan,
    "ReadAnswer": _read,
    "VerifyAnswer": _verify,
    "RetryAnswer": _retry,
    "OutlineAnswer": _outline,
    "WriteAnswer": _write,
    "RewriteAnswer": _rewrite,
    "CheckAnswer": _check,
    "RefuteAnswer": _check,
    "EditAnswer": _edit,
}
# A field that no form before it in this list has.
_TELLING_FIELDS = {
    "strategy": "PlanAnswer",
    "verdicts": "VerifyAnswer",
    "restated": "RetryAnswer",
    "accuracy": "JudgeAnswer",
    "summary": "EditAnswer",
    "rewrites": "RewriteAnswer",
    "instead": "RefuteAnswer",
    "objections": "CheckAnswer",
    "blocks": "WriteAnswer",
    "sections": "OutlineAnswer",
    "falsehoods": "ReadAnswer",
}
