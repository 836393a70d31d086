"""A retriever that is made already."""

from langchain_core.documents import Document


class Made:
    """Finds the same document whatever it is asked."""

    def invoke(self, query: str) -> list[Document]:
        """The document."""
        return [Document(f"Asked for {query}.")]


made = Made()
