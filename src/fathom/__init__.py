"""Fathom: a deep-research agent whose every sentence leads back to a quotation in a source that was read.

The public names are loaded when they are first used, so that `fathom --help` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.audit.auditor import AuditRequest as AuditRequest
    from fathom.audit.records import AuditEvent as AuditEvent, AuditResult as AuditResult
    from fathom.errors import (
        BadInput as BadInput,
        FathomError as FathomError,
        IllegalTransition as IllegalTransition,
        RunStopped as RunStopped,
    )
    from fathom.evaluation.evaluator import EvalRequest as EvalRequest
    from fathom.evaluation.scores import EvalResult as EvalResult
    from fathom.events import Progress as Progress
    from fathom.integrations.tool import as_tool as as_tool
    from fathom.report.verify import Verification as Verification
    from fathom.request import ResearchRequest as ResearchRequest
    from fathom.researcher import DeepResearcher as DeepResearcher
    from fathom.result import ResearchResult as ResearchResult
    from fathom.runs.batch import (
        BatchQuestion as BatchQuestion,
        BatchStop as BatchStop,
        QuestionOutcome as QuestionOutcome,
        read_questions as read_questions,
    )
    from fathom.runs.compare import Comparison as Comparison
    from fathom.runs.diagnosis import Diagnosis as Diagnosis
    from fathom.runs.prune import PruneResult as PruneResult
    from fathom.runs.repository import RunLine as RunLine
    from fathom.runs.views import ConversationThread as ConversationThread, RunViews as RunViews
    from fathom.session import Session as Session
    from fathom.settings.settings import Settings as Settings
    from fathom.state import Forecast as Forecast, ReviewAnswer as ReviewAnswer, RunConfig as RunConfig
    from fathom.storage.records import SignalWord as SignalWord

_HOMES = {
    "AuditEvent": "audit.records",
    "AuditRequest": "audit.auditor",
    "AuditResult": "audit.records",
    "BadInput": "errors",
    "BatchQuestion": "runs.batch",
    "BatchStop": "runs.batch",
    "Comparison": "runs.compare",
    "ConversationThread": "runs.views",
    "DeepResearcher": "researcher",
    "Diagnosis": "runs.diagnosis",
    "EvalRequest": "evaluation.evaluator",
    "EvalResult": "evaluation.scores",
    "FathomError": "errors",
    "Forecast": "state",
    "IllegalTransition": "errors",
    "Progress": "events",
    "PruneResult": "runs.prune",
    "QuestionOutcome": "runs.batch",
    "ResearchRequest": "request",
    "ResearchResult": "result",
    "ReviewAnswer": "state",
    "RunConfig": "state",
    "RunLine": "runs.repository",
    "RunStopped": "errors",
    "RunViews": "runs.views",
    "Session": "session",
    "Settings": "settings.settings",
    "SignalWord": "storage.records",
    "Verification": "report.verify",
    "as_tool": "integrations.tool",
    "read_questions": "runs.batch",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    return getattr(import_module(f"fathom.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
