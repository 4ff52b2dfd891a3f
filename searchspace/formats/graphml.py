"""GraphML: nodes with a name and a kind (host or switch), edges with their number of cables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric, check_size
from searchspace.machine import MOST_CABLES

__all__ = ["parse_xml", "read_graphml", "tag_of", "write_graphml"]

_DEEPEST = 100
_LONGEST_NAMESPACE = 200
_ONE = re.compile(r"(\+?0*1(\.0*)?)?", re.ASCII)
_CABLES = re.compile(r"\d{1,4}", re.ASCII)


def parse_xml(text: str) -> Element:
    """Reads XML without entities and document types that do harm.

    Raises:
        InvalidInput: It is not XML, uses entities or other declarations of its own, names a very
            long namespace, or is nested more than 100 deep.
    """
    parser = _Parser()
    try:
        parser.feed(text.encode())
        root: Element = parser.close()
    except ParseError as error:
        raise InvalidInput(f"not XML: {error}") from None
    except DefusedXmlException:
        raise InvalidInput("XML with entities is not read") from None
    except (LookupError, ValueError) as error:  # of the encoding that it declares
        raise InvalidInput(f"XML in an encoding that cannot be read: {error}") from None
    level = [root]
    for _ in range(_DEEPEST):
        level = [child for element in level for child in element]
    if level:
        raise InvalidInput(f"XML with more than {_DEEPEST} elements inside each other is not read")
    return root


class _Parser(DefusedXMLParser):
    """Refuses what a small file puts into each of many elements.

    That are default values of attributes, which a DOCTYPE declares between its brackets, and the
    namespace of a name, which is a part of it. A DOCTYPE that names a file alone, as SimGrid's and
    hwloc's, is passed over.
    """

    def __init__(self) -> None:
        super().__init__(target=TreeBuilder(), forbid_dtd=True)
        self.parser.StartNamespaceDeclHandler = self._check_namespace

    def defused_start_doctype_decl(
        self, name: str, sysid: str | None, pubid: str | None, has_internal_subset: bool
    ) -> None:
        if has_internal_subset:
            raise InvalidInput(
                "XML with entities is not read, nor with other declarations in its DOCTYPE; take "
                "out what stands there from [ to ]"
            )

    def _check_namespace(self, _prefix: str | None, uri: str | None) -> None:
        if uri is not None and len(uri) > _LONGEST_NAMESPACE:
            raise InvalidInput(
                f"XML with a namespace of more than {_LONGEST_NAMESPACE} characters is not read: "
                f"{uri[:60]!r}"
            )


def tag_of(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def read_graphml(text: str) -> Fabric:
    """Reads a network.

    Nodes are numbered in the order of the file, hosts first. The attribute `kind` says `switch` or
    `host`, `name` the name (else the id is it), `cables` of an edge how many there are.

    Raises:
        InvalidInput: It is no GraphML, or of a directed or weighted graph, or of no simple one.
    """
    root = parse_xml(text)
    graphs = [element for element in root if tag_of(element) == "graph"]
    if tag_of(root) != "graphml" or len(graphs) != 1:
        raise InvalidInput("not a GraphML file with one graph")
    keys = {
        (key.get("id") or ""): (key.get("attr.name") or key.get("id") or "").lower()
        for key in root
        if tag_of(key) == "key"
    }
    graph = graphs[0]
    if graph.get("edgedefault") == "directed":
        raise InvalidInput("the graph is directed; networks here are undirected")
    nodes = [element for element in graph if tag_of(element) == "node"]
    edges = [element for element in graph if tag_of(element) == "edge"]
    check_size(len(nodes), len(edges))
    data = {(node.get("id") or ""): _data(node, keys) for node in nodes}
    if len(data) != len(nodes) or "" in data:
        raise InvalidInput("every node needs an id of its own")
    names = {identifier: found.get("name", identifier) for identifier, found in data.items()}
    if len(set(names.values())) != len(names):
        names = {identifier: identifier for identifier in names}
    switches = [i for i, found in data.items() if found.get("kind", "host") == "switch"]
    hosts = [i for i in data if data[i].get("kind", "host") != "switch"]
    return build_fabric(
        [names[i] for i in hosts], [names[i] for i in switches], _cables(edges, keys, names)
    )


def _cables(
    edges: list[Element], keys: dict[str, str], names: dict[str, str]
) -> Iterator[tuple[str, str]]:
    seen: set[frozenset[str]] = set()
    for edge in edges:
        ends = (edge.get("source") or "", edge.get("target") or "")
        shown = f"the edge from '{ends[0]}' to '{ends[1]}'"
        if edge.get("directed") == "true":
            raise InvalidInput(f"{shown} is directed; networks here are undirected")
        if ends[0] not in names or ends[1] not in names:
            raise InvalidInput(f"{shown} names a node that is not described")
        if ends[0] == ends[1]:
            raise InvalidInput(f"{shown} joins a node with itself")
        if frozenset(ends) in seen:
            raise InvalidInput(f"{shown} stands twice; say <data> cables for parallel ones")
        seen.add(frozenset(ends))
        found = _data(edge, keys)
        if not _ONE.fullmatch(found.get("weight", "")):
            raise InvalidInput(f"{shown} has a weight, which networks here do not have")
        cables = found.get("cables", "1")
        if not _CABLES.fullmatch(cables) or not 1 <= int(cables) <= MOST_CABLES:
            raise InvalidInput(
                f"{shown} has '{cables}' cables; a number from 1 to {MOST_CABLES} is meant"
            )
        yield from [(names[ends[0]], names[ends[1]])] * int(cables)


def _data(element: Element, keys: dict[str, str]) -> dict[str, str]:
    return {
        keys.get(data.get("key") or "", data.get("key") or ""): (data.text or "").strip()
        for data in element
        if tag_of(data) == "data"
    }


def write_graphml(fabric: Fabric) -> str:
    """Writes a network so that `read_graphml` gives it back."""
    graph = fabric.graph
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="name" for="node" attr.name="name" attr.type="string"/>',
        '  <key id="kind" for="node" attr.name="kind" attr.type="string"/>',
        '  <key id="cables" for="edge" attr.name="cables" attr.type="int"/>',
        '  <graph edgedefault="undirected">',
    ]
    for node in range(graph.nodes):
        kind = "host" if node < graph.hosts else "switch"
        name = f'<data key="name">{escape(fabric.names[node])}</data>' if fabric.names else ""
        lines.append(
            f'    <node id={quoteattr(f"n{node}")}>{name}<data key="kind">{kind}</data></node>'
        )
    for index, (u, v) in enumerate(graph.edges):
        width = graph.width(index)
        more = f'><data key="cables">{width}</data></edge>' if width > 1 else "/>"
        lines.append(f'    <edge source="n{u}" target="n{v}"{more}')
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"
