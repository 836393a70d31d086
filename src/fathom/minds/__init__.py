"""Who thinks: any chat model, or none at all, behind one port."""

from fathom.errors import BadInput
from fathom.minds.extractive import Extractive
from fathom.minds.port import Mind
from fathom.settings import Settings
from fathom.state import Knobs


def mind_for(settings: Settings, knobs: Knobs) -> Mind:
    """The mind of a run: models where one is configured, none where none is."""
    if settings.has_model:
        from fathom.minds.models import (
            prompted_mind,
        )  # seconds of imports that a run without a model never pays

        return prompted_mind(settings, knobs)
    if knobs.model:
        raise BadInput(f"To think with {knobs.model}, set OPENAI_API_KEY or name a server with --base-url.")
    return Extractive()
