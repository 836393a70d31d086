"""Research models: any chat model, or none at all, behind one protocol."""

from fathom.errors import BadInput
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.protocol import ResearchModel
from fathom.settings import Settings
from fathom.settings.model_names import NO_MODEL, RECORDED, describe_unknown_provider
from fathom.state import RunConfig


def choose_research_model(settings: Settings, run_config: RunConfig) -> ResearchModel:
    """Return the research model of a run: chat models if configured, else the extractive one."""
    named = run_config.model
    if named and named.startswith(RECORDED):
        from fathom.llm.recorded import load_recording

        return load_recording(named.removeprefix(RECORDED))
    if settings.uses_model(named):
        from fathom.llm.factory import make_research_model  # seconds of imports

        return make_research_model(settings, run_config)
    if named and ":" in named:
        raise BadInput(describe_unknown_provider(named))
    if named and named != NO_MODEL:
        raise BadInput(
            f"To think with {named}, set OPENAI_API_KEY, name a server with --base-url, or a provider:"
            f" openai:{named}."
        )
    return ExtractiveModel()
