"""Who thinks: any chat model, or none at all, behind one port."""

from fathom.errors import BadInput
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.port import ResearchModel
from fathom.settings import Settings
from fathom.state import RunConfig


def mind_for(settings: Settings, run_config: RunConfig) -> ResearchModel:
    """The mind of a run: models where one is configured, none where none is."""
    if settings.has_model:
        from fathom.llm.models import (
            prompted_mind,
        )  # seconds of imports that a run without a model never pays

        return prompted_mind(settings, run_config)
    if run_config.model:
        raise BadInput(
            f"To think with {run_config.model}, set OPENAI_API_KEY or name a server with --base-url."
        )
    return ExtractiveModel()
