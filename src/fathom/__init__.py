"""Fathom: a deep-research agent whose every sentence leads back to a quotation in a source that was read.

The public names are loaded when they are first used, so that `fathom --help` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.audit.auditor import AuditRequest
    from fathom.audit.records import AuditEvent, AuditResult
    from fathom.errors import BadInput, FathomError, IllegalTransition, RunStopped
    from fathom.evaluation.evaluator import EvalRequest
    from fathom.evaluation.records import EvalResult
    from fathom.events import Progress
    from fathom.integrations.tool import as_tool
    from fathom.report.verify import Verification
    from fathom.request import ResearchRequest
    from fathom.researcher import DeepResearcher
    from fathom.result import ResearchResult
    from fathom.runs.batch import BatchQuestion, BatchStop, QuestionOutcome, read_questions
    from fathom.runs.compare import Comparison
    from fathom.runs.diagnosis import Diagnosis
    from fathom.runs.prune import PruneResult
    from fathom.runs.repository import RunLine
    from fathom.runs.views import ConversationThread, RunViews
    from fathom.session import Session
    from fathom.settings.settings import Settings
    from fathom.state import Forecast, ReviewAnswer, RunConfig
    from fathom.storage.records import SignalWord

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
    "EvalResult": "evaluation.records",
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

__all__ = [
    "AuditEvent",
    "AuditRequest",
    "AuditResult",
    "BadInput",
    "BatchQuestion",
    "BatchStop",
    "Comparison",
    "ConversationThread",
    "DeepResearcher",
    "Diagnosis",
    "EvalRequest",
    "EvalResult",
    "FathomError",
    "Forecast",
    "IllegalTransition",
    "Progress",
    "PruneResult",
    "QuestionOutcome",
    "ResearchRequest",
    "ResearchResult",
    "ReviewAnswer",
    "RunConfig",
    "RunLine",
    "RunStopped",
    "RunViews",
    "Session",
    "Settings",
    "SignalWord",
    "Verification",
    "as_tool",
    "read_questions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    return getattr(import_module(f"fathom.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
