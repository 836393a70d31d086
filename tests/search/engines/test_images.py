"""Images, where an engine offers them: each with the page it stands on."""

from pathlib import Path

import pytest
from standins import brave, searxng, serper
from standins.server import StandIn

from fathom.search.engines import engines_for
from fathom.settings import load_settings
from fathom.state import Query, RunConfig

QUERY = Query(id="q1", text="tidal barrage", question="s1", round=1)
PAGE, IMAGE = "https://ocean.example/barrage", "https://ocean.example/barrage.jpg"
SERVERS: dict[str, tuple[StandIn, str]] = {
    "serper-images": (serper.SerperServer([serper.result(PAGE, imageUrl=IMAGE)]), "/images"),
    "brave-images": (
        brave.BraveServer([brave.result(PAGE, properties={"url": IMAGE})]),
        "/res/v1/images/search",
    ),
    "searxng-images": (searxng.SearxngServer([searxng.result(PAGE, img_src=IMAGE)]), "/search"),
}


@pytest.mark.parametrize("name", SERVERS)
async def test_an_image_is_a_hit_at_its_page(name: str, tmp_path: Path) -> None:
    server, route = SERVERS[name]
    with server:
        settings = load_settings(
            home=tmp_path,
            engine_urls={name: server.url},
            searxng_url=server.url,
            serper_api_key=serper.KEY,
            brave_api_key=brave.KEY,
        )
        engines = engines_for(settings, RunConfig(engines=[name], fallback=False))
        (hit,) = (await engines.search(QUERY, limit=3)).hits
        assert server.records[0].route == route
    assert (hit.address, hit.image, hit.engine) == (PAGE, IMAGE, name)
    assert engines.engines[0].capabilities == {"image"}
