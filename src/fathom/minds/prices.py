"""What a call costs, from a price table that needs no network.

Does not know budgets. A model nobody has a price for is said to be unpriced, never free.
"""

import ipaddress
from urllib.parse import urlsplit


def priced(model: str, server: str, tokens_in: int, tokens_out: int) -> float | None:
    """The price in USD; 0 on a server of one's own, None when no price is known."""
    if is_own_server(server):
        return 0.0
    from genai_prices import Usage, calc_price  # half a second of imports, paid only by those who pay

    try:
        usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
        return float(calc_price(usage, model_ref=model).total_price)
    except LookupError:
        return None


def is_own_server(server: str) -> bool:
    """Whether the server is on this machine or its private network."""
    host = urlsplit(server).hostname or ""
    if host == "localhost" or host.endswith((".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
