"""HTTP on httpx2: one client an event loop, and guarded, polite fetching of pages."""
