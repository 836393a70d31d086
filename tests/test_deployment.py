"""The container files name commands, settings and addresses that there are."""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from fathom.cli import COMMANDS

ROOT = Path(__file__).parents[1]


def test_the_containers_run_commands_that_there_are() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    commands = [service["command"][0] for service in services.values() if "command" in service]
    assert commands
    assert set(commands) <= COMMANDS.keys()


def test_no_service_runs_with_rights_or_a_password_of_ours() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    ours = [service for service in services.values() if service.get("image") == "fathom"]
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in ours)
    assert all(port.startswith("127.0.0.1:") for service in ours for port in service.get("ports", []))
    assert "${POSTGRES_PASSWORD:?" in (ROOT / "compose.yaml").read_text("utf-8")


def test_the_image_runs_as_a_user_without_rights_and_is_asked_how_it_is() -> None:
    words = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER [1-9]\d*$", words, re.MULTILINE)
    assert "/api/health" in words
