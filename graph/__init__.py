"""The shape of the machine: `graph` is compiled and ready, `build_graph` makes one with other parts."""

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
