"""Fathom: a deep-research agent whose every sentence leads back to a quotation in a source that was read.

The public names are loaded when they are first used, so that `fathom --help` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.audit.auditor import AuditRequest as AuditRequest
    from fathom.audit import AuditEvent as AuditEvent, AuditResult as AuditResult
    from fathom.errors import (
        BadInput as BadInput,
        FathomError as FathomError,
        IllegalTransition as IllegalTransition,
        RunStopped as RunStopped,
    )
    from fathom.evaluation.evaluator import EvalRequest as EvalRequest
    from fathom.evaluation import EvalResult as EvalResult
    from fathom.events import Progress as Progress
    from fathom.integrations import as_tool as as_tool
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
    from fathom.runs import RunLine as RunLine
    from fathom.runs.views import ConversationThread as ConversationThread, RunViews as RunViews
    from fathom.session import Session as Session
    from fathom.settings import Settings as Settings
    from fathom.state import Forecast as Forecast, ReviewAnswer as ReviewAnswer, RunConfig as RunConfig
    from fathom.storage.records import SignalWord as SignalWord

_NAMES = {
    "audit.auditor": "AuditRequest",
    "audit": "AuditEvent AuditResult",
    "errors": "BadInput FathomError IllegalTransition RunStopped",
    "evaluation.evaluator": "EvalRequest",
    "evaluation": "EvalResult",
    "events": "Progress",
    "integrations": "as_tool",
    "report.verify": "Verification",
    "request": "ResearchRequest",
    "researcher": "DeepResearcher",
    "result": "ResearchResult",
    "runs.batch": "BatchQuestion BatchStop QuestionOutcome read_questions",
    "runs.compare": "Comparison",
    "runs.diagnosis": "Diagnosis",
    "runs.prune": "PruneResult",
    "runs": "RunLine",
    "runs.views": "ConversationThread RunViews",
    "session": "Session",
    "settings": "Settings",
    "state": "Forecast ReviewAnswer RunConfig",
    "storage.records": "SignalWord",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    return getattr(import_module(f"fathom.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
