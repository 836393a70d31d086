"""The research graph: `graph` is compiled and ready, `build_graph` builds one with other dependencies."""

from fathom.graph.dependencies import (
    CustomDependencies,
    Dependencies,
    DependencyFactory,
    standard_dependencies,
)
from fathom.graph.research import ResearchGraph, build_graph, graph

__all__ = [
    "CustomDependencies",
    "Dependencies",
    "DependencyFactory",
    "ResearchGraph",
    "build_graph",
    "graph",
    "standard_dependencies",
]
