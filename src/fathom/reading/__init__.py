"""From an address to text: fetched with a guard, parsed by kind."""
