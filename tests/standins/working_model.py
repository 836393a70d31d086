"""A model that does its work: it plans, quotes what it was shown, and writes from its claims.

Does not know the documents; it reads them out of the prompts, like a model would.
"""

import re
from collections.abc import Callable
from typing import Any

from standins.model import ModelRequest
from standins.replies import Reply


def researcher(request: ModelRequest) -> Reply:
    """A sound answer to any of Fathom's prompts."""
    return Reply.give(_FORMS[form_of(request)](request.user_text))


def answer_to(name: str, text: str) -> dict[str, object]:
    """The same without a server in between: what the form of that name is filled with."""
    return _FORMS[name](text)


def form_of(request: ModelRequest) -> str:
    """Which form the request wants filled, whatever way it asks."""
    schema = request.schema or {}
    fields = set(schema.get("properties", {})) or set(re.findall(r'"(\w+)": ', request.user_text))
    return next(name for name, known in _FIELDS.items() if known in fields)


def fenced(name: str, text: str) -> str:
    """What stands between the tags of that name."""
    found = re.search(rf"<{name}-(\w+)>\n(.*?)\n</{name}-\1>", text, re.DOTALL)
    return found.group(2) if found else ""


def _plan(text: str) -> dict[str, object]:
    question = fenced("question", text)
    number = re.search(r"Round (\d+)", text)
    return {
        "strategy": "Look it up, then look for what speaks against it.",
        "kind": "fact",
        "perspectives": ["those who pay", "a critic"],
        "questions": [
            {"id": "Q1", "text": question, "needs": [], "perspective": "those who pay"},
            {
                "id": "Q2",
                "text": f"What speaks against it: {question}",
                "needs": [],
                "perspective": "a critic",
            },
        ],
        "queries": [
            {
                "question": "Q1",
                "text": f"{question} facts {number.group(1) if number else ''}",
                "family": "web",
            },
            {
                "question": "Q2",
                "text": f"{question} limits {number.group(1) if number else ''}",
                "family": "web",
            },
        ],
        "hypotheses": [],
    }


def _read(text: str) -> dict[str, object]:
    passages = fenced("passages", text)
    sentences = [s.strip() for s in re.findall(r"[A-Z가-힣][^.#\n]{25,}\.", passages)][:2]
    return {
        "claims": [
            {
                "question": f"Q{n}",
                "quotes": [quote],
                "statement": f"It is reported: {quote}",
                "relevance": 0.9,
            }
            for n, quote in enumerate(sentences, 1)
        ],
        "falsehoods": [
            {"claim": n, "original": quote[-12:-1], "changed": f"{_INVENTED} {n}"}
            | {"statement": f"It is reported: {quote[:-12]}{_INVENTED} {n}."}
            for n, quote in enumerate(sentences, 1)
        ],
    }


def _verify(text: str) -> dict[str, object]:
    return {"verdicts": [_verdict(int(n), item) for n, item in _items(text)]}


def _items(text: str) -> list[tuple[str, str]]:
    """The numbered items of a prompt, each with its lines."""
    return re.findall(r"^Item (\d+)(.*?)(?=\n\n|\Z)", fenced("evidence", text), re.MULTILINE | re.DOTALL)


def _verdict(number: int, item: str) -> dict[str, object]:
    """Sound if every word of the statement is in its quotes, but for who reports it."""
    statement = re.search(r"^Statement: (?:It is reported: )?(.*)$", item, re.MULTILINE)
    said = set(re.findall(r"[\w.,]*\w", statement.group(1).lower())) if statement else {""}
    quoted = " ".join(re.findall(r"^Quote: (.*)$", item, re.MULTILINE)).lower()
    is_sound = said <= set(re.findall(r"[\w.,]*\w", quoted))
    answers = dict.fromkeys(("is_explicit", "is_same_scope", "is_not_overstated"), is_sound)
    return {"item": number, "reason": "" if is_sound else "not said", **answers, "score": 0.95 * is_sound}


def _retry(text: str) -> dict[str, object]:
    return {"restated": []}


def _judge(text: str) -> dict[str, object]:
    """Fair marks, no gaps, and an outline by sub-question whose parts keep their ids."""
    marks = {"accuracy": 4, "relevance": 4, "completeness": 4, "consistency": 4}
    keys = re.findall(r"(E\d+) \(for (Q\d+)", fenced("claims", text))
    ids = {title: name for name, title in re.findall(r"(S\d+) \([^)]*\) (.*?):", fenced("outline", text))}
    parts = [
        {
            "id": ids.get(title, ""),
            "title": title,
            "aim": f"It tells: {title}",
            "question": question,
            "claims": [key for key, of in keys if of == question],
            "lacks": "",
            "priority": "high",
            "is_conclusion": False,
        }
        for question, title in (("Q1", "What is known"), ("Q2", "What speaks against it"))
    ]
    return {"evidence": "E1", **marks, "title": "A report", "parts": parts, "gaps": []}


def _outline(text: str) -> dict[str, object]:
    keys = re.findall(r"(E\d+) \(for (Q\d+)\)", text)
    sections = [
        {"title": title, "question": q, "claims": [k for k, of in keys if of == q]}
        for q, title in (("Q1", "What is known"), ("Q2", "What speaks against it"))
    ]
    return {"title": "A report", "sections": sections}


def _write(text: str) -> dict[str, object]:
    claims = re.findall(r"^(E\d+): (.*)$", fenced("claims", text), re.MULTILINE)
    return {"sentences": [{"text": statement, "claims": [key]} for key, statement in claims]}


def _rewrite(text: str) -> dict[str, object]:
    """What the claim says instead; nothing for a sentence that had none."""
    claims = dict(re.findall(r"^(E\d+): (.*)$", fenced("claims", text), re.MULTILINE))
    failed = re.findall(r"^Sentence (\d+) \((E\d+)?", fenced("sentences", text), re.MULTILINE)
    return {
        "rewrites": [
            {"sentence": int(n), "text": claims.get(key, ""), "claims": [key] if key else []}
            for n, key in failed
        ]
    }


def _check(text: str) -> dict[str, object]:
    """Objects to a sentence with a figure that its quotes do not have, or with hardly a word of theirs."""
    quotes = dict(re.findall(r"^  (E\d+)(?: \[.*?\])?: (.*)$", text, re.MULTILINE))
    objections = []
    for number, sentence, rest in re.findall(
        r"^Sentence (\d+) \(\w+\): (.*)\n((?:  .*\n?)*)", text, re.MULTILINE
    ):
        own = re.sub(r"^ +around it: .*", "", rest, flags=re.MULTILINE)  # says it of something else
        told = " ".join([*(quotes[key] for key in re.findall(r"E\d+", own) if key in quotes), own])
        figures = [figure for figure in re.findall(r"\d[\d.,]*\d|\d", sentence) if figure not in told]
        words = set(re.findall(r"\w{4,}", sentence.lower()))
        is_strange = len(words & set(re.findall(r"\w{4,}", told.lower()))) < len(words) / 3
        if rest and (figures or is_strange):
            objections.append({"sentence": int(number), "why": f"not said: {figures or sentence}"})
    return {"objections": objections}


def _edit(text: str) -> dict[str, object]:
    """The first sentences of the draft as its summary."""
    found = re.findall(r"^\[(\d+)\] (.*)$", fenced("draft", text), re.MULTILINE)
    cited = [{"text": words, "rests_on": [number]} for number, words in found[:2]]
    return {"title": "", "summary": cited, "changes": [], "repetitions": [], "links": []}


_INVENTED = "Zanzibarine harbour"

_FIELDS = {
    "rewrite": "rewrites",
    "retry": "restated",
    "write": "blocks",
    "edit": "summary",
    "plan": "strategy",
    "judge": "accuracy",
    "read": "claims",
    "verify": "verdicts",
    "outline": "sections",
    "check": "objections",
}

_FORMS = {
    "rewrite": _rewrite,
    "retry": _retry,
    "plan": _plan,
    "read": _read,
    "verify": _verify,
    "judge": _judge,
    "outline": _outline,
    "write": _write,
    "check": _check,
    "refute": _check,
    "edit": _edit,
}

Answering = Callable[[ModelRequest], Reply]


def scripted(**own: Answering) -> Answering:
    """The researcher, but for the forms that are named: plan, read, verify, judge, write and so on."""
    return lambda request: own.get(form_of(request), researcher)(request)


def value(request: ModelRequest) -> dict[str, Any]:
    """What the researcher would have given."""
    given: Any = researcher(request).value
    return dict(given)


def never_satisfied(request: ModelRequest) -> Reply:
    """A judge who always finds something important missing, and each time something else."""
    name = f"m{len(request.user_text)}"
    missing = {"question": "Q1", "description": f"{name}a", "priority": "high", "suggested_query": f"{name}b"}
    return Reply.give({**value(request), "gaps": [missing]})


def overstating(request: ModelRequest) -> Reply:
    """A writer whose first sentence has to be written again."""
    given = value(request)
    first = {**given["sentences"][0], "text": "Tidal power costs 7777 euros."}
    return Reply.give({"sentences": [first, *given["sentences"][1:]]})
