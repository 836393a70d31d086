"""Model servers as they run on a machine: Ollama, LM Studio, llama.cpp and vLLM list their models.

What they are asked beyond that, the test answers as for any model behind an OpenAI-compatible server.
"""

from typing import Any

from standins.model import Model
from standins.replies import Reply
from standins.server import Answer, Seen, json_answer

OLLAMA = {
    "models": [
        {"name": "llama3.1:latest", "model": "llama3.1:latest", "details": {"family": "llama"}},
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "big:cloud", "remote_host": "https://ollama.com:443", "details": {"family": "big"}},
    ]
}
LM_STUDIO = {
    "object": "list",
    "data": [
        {"id": "qwen2.5-7b-instruct", "object": "model", "type": "llm", "state": "loaded"},
        {"id": "text-embedding-nomic", "object": "model", "type": "embeddings", "state": "not-loaded"},
    ],
}
LLAMA_CPP = {
    "object": "list",
    "data": [{"id": "smollm2.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": 4096}}],
}
VLLM = {
    "object": "list",
    "data": [{"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "max_model_len": 40960}],
}


class LocalServer(Model):
    """Lists models at one path, in the words of one program."""

    def __init__(self, path: str, listing: Any, answer: Answer | None = None) -> None:
        super().__init__(lambda _: Reply.say("no"))
        self.path, self.listing, self.other = path, listing, answer

    def answer_to(self, seen: Seen) -> Answer:
        """The list, or what any model's server says."""
        if seen.route == self.path:
            return self.other or json_answer(self.listing)
        return super().answer_to(seen)


def ollama() -> LocalServer:
    """Ollama, with a model for chats, one for embeddings and one that runs elsewhere."""
    return LocalServer("/api/tags", OLLAMA)


def lm_studio() -> LocalServer:
    """LM Studio, with a model for chats and one for embeddings."""
    return LocalServer("/api/v0/models", LM_STUDIO)


def llama_cpp() -> LocalServer:
    """llama.cpp's own server."""
    return LocalServer("/v1/models", LLAMA_CPP)


def vllm() -> LocalServer:
    """vLLM."""
    return LocalServer("/v1/models", VLLM)
