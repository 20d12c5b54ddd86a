"""Reads the five files of a folder with rdflib and validates them with pyshacl; tells it as JSON."""

import json
import pathlib
import sys

import pyshacl
import rdflib
from rdflib.compare import to_isomorphic

FORMS = {
    "turtle": "turtle",
    "nquads": "nquads",
    "trig": "trig",
    "jsonld": "json-ld",
    "rdfxml": "xml",
}

folder = pathlib.Path(sys.argv[1])


def read(word):
    """The triples of all named graphs together."""
    dataset = rdflib.Dataset(default_union=True)
    dataset.parse(folder / f"graph.{word}", format=FORMS[word])
    graph = rdflib.Graph()
    for triple in dataset.triples((None, None, None)):
        graph.add(triple)
    return graph


graphs = {word: read(word) for word in FORMS}
first = to_isomorphic(graphs["nquads"])
conforms, _, report = pyshacl.validate(
    graphs["nquads"],
    shacl_graph=rdflib.Graph().parse(folder / "shapes.ttl"),
    ont_graph=rdflib.Graph().parse(folder / "ontology.ttl"),
    advanced=True,
)
print(
    json.dumps(
        {
            "triples": {word: len(graph) for word, graph in graphs.items()},
            "same": {word: to_isomorphic(graph) == first for word, graph in graphs.items()},
            "conforms": conforms,
            "report": report,
        }
    )
)
