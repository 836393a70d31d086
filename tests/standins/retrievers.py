"""Retrievers of all kinds, as the text of a module: a test writes it to a folder of its own.

Does not import anything itself.
"""

SHELF = """
import sys, time
from pathlib import Path
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

WEB = "https://a.example/1"
HERE = Path(__file__).parent
TEXTS = ["Costs fell.", "The harbour is old.", "조력 발전의 비용이 낮아졌다."]

store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
store.add_texts(TEXTS, [{"title": f"T{n}"} for n in range(3)])

class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document("One.", metadata={"source": WEB, "title": "One &amp; all", "date": "2024-05-06"}),
            Document("Two.", metadata={"source": WEB}),
            Document("In a file.", metadata={"source": str(HERE / "allowed" / "note 1.md")}),
            Document("Elsewhere.", metadata={"source": str(HERE / "secret.md")}),
            Document("No file.", metadata={"source": "notes.md", "url": "http://b.example/2"}),
            Document(f"조력에 대한 답: {query}", metadata={"title": "조력", "published": "2023-01-02"}),
            Document("   "),
        ]

async def later():
    return Shelf()

class Plain:
    def invoke(self, query):
        return [Document("Plain words.")]

class Strange:
    def __init__(self, answer):
        self.answer = answer
    def invoke(self, query):
        if isinstance(self.answer, Exception):
            raise self.answer
        if callable(self.answer):
            return self.answer()
        return self.answer

class VendorError(Exception):
    pass

class Room:
    plain = Plain()

room = Room()
words = Strange("words")
rows = Strange([{"page_content": "x"}])
number = 7
hangs = Strange(lambda: time.sleep(0.5))
wrong = Strange(KeyError("id"))
away = Strange(ConnectionRefusedError("db://user:secret@host refused"))
vendor = Strange(VendorError(""))

def needy(key):
    return Shelf()

def failing():
    raise RuntimeError("no index at db://user:secret@host/x.")
"""
