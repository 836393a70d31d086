"""The shape of the machine: `graph` is compiled and ready, `build` makes one with other parts."""

from fathom.graph.dependencies import Dependencies, DependencyFactory, standard_dependencies, working_with
from fathom.graph.research import Research, build, graph

__all__ = [
    "Dependencies",
    "DependencyFactory",
    "Research",
    "build",
    "graph",
    "standard_dependencies",
    "working_with",
]
