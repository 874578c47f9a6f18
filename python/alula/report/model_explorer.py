"""Graphs for Model Explorer, which its JSON adapter reads, and values for its nodes."""

from alula.report import show
from alula.report.commands import type_text


def _pairs(values):
    return [{"key": key, "value": str(value)} for key, value in values if value not in (None, "")]


def _attributes(report, command):
    kernel = report.kernel(command.name) if command.kind == "dispatch" else None
    if kernel is None:
        return _pairs([("command", command.text)])
    bound = kernel.bound(report.machine)
    return _pairs(
        [
            ("kernel", kernel.name),
            ("fused", " ".join(kernel.operations)),
            ("source name", kernel.source_name),
            ("source", kernel.source),
            ("grid", command.grid),
            ("time of a run", show.seconds(kernel.seconds)),
            ("runs in a call", show.number(kernel.runs)),
            ("of the roofline", show.percent(bound[0], kernel.seconds) if bound else None),
            ("flops", show.number(kernel.flops)),
            ("transcendentals", show.number(kernel.transcendentals)),
            ("bytes read", show.number(kernel.read_bytes)),
            ("bytes written", show.number(kernel.written_bytes)),
            ("bytes by cost", show.number(kernel.cost_bytes)),
        ]
    )


def _label(report, command):
    if command.kind != "dispatch":
        return f"{command.kind} {command.name}".strip()
    kernel = report.kernel(command.name)
    return " ".join(kernel.operations) or kernel.name


def _namespace(report, command):
    parts = [scope.replace("/", "_") for scope in command.scopes]
    kernel = report.kernel(command.name) if command.kind == "dispatch" else None
    if kernel and kernel.source_name:
        parts += [part for part in kernel.source_name.split("/")[:-1] if part]
    return "/".join(parts)


def _make_graph(report, function):
    nodes, outputs = {}, {}

    def add(id_, label, attributes, namespace=""):
        nodes[id_] = {
            "id": id_,
            "label": label,
            "namespace": namespace,
            "attrs": attributes,
            "incomingEdges": [],
        }
        return nodes[id_]

    def add_edge(target, source):
        edges = target["incomingEdges"]
        # An output of a node goes to as many as read it.
        edges.append(
            {
                "sourceNodeId": source,
                "sourceNodeOutputId": "0",
                "targetNodeInputId": str(len(edges)),
            }
        )

    for command in function.commands:
        for number in command.inputs:
            slot = function.slots[number]
            id_ = f"{slot.kind} {slot.index}"
            if id_ not in nodes:
                type_ = type_text(function.arguments[slot.index]) if slot.kind == "argument" else ""
                add(
                    id_,
                    slot.name or id_,
                    _pairs([("what", id_), ("type", type_), ("bytes", show.number(slot.bytes))]),
                )
        node = add(
            f"command {command.number}",
            _label(report, command),
            _attributes(report, command),
            _namespace(report, command),
        )
        if command.kind == "call":
            node["subgraphIds"] = [command.name]
        for number in command.inputs:
            slot = function.slots[number]
            add_edge(node, f"{slot.kind} {slot.index}")
        for source in command.sources:
            add_edge(node, f"command {source}")
        written = [function.slots[n] for n in command.writes]
        node["outputsMetadata"] = [
            {"id": "0", "attrs": _pairs([("slots", ", ".join(f"%{s.number} {s.text}" for s in written))])}
        ] if written else []  # fmt: skip
        for slot in written:
            if slot.kind == "result":
                outputs.setdefault(slot.index, []).append(node["id"])
    for index, writers in sorted(outputs.items()):
        value = function.results[index]
        node = add(
            f"result {index}",
            value["name"] or f"result {index}",
            _pairs([("what", f"result {index}"), ("type", type_text(value))]),
        )
        for writer in dict.fromkeys(writers):
            add_edge(node, writer)
    return {"id": function.name, "nodes": list(nodes.values())}


def make_graphs(report):
    """A collection of graphs, one of each function: what the file has to hold."""
    return {
        "label": report.title,
        "graphs": [_make_graph(report, function) for function in report.functions],
    }


def make_node_data(report):
    """Microseconds of each node in a call, for "Add per-node data"; None if there
    are no times."""
    if not report.times:
        return None
    data = {}
    for function in report.functions:
        results = {}
        for command in function.commands:
            kernel = report.kernel(command.name) if command.kind == "dispatch" else None
            if kernel and kernel.seconds is not None:
                # A kernel that several commands run: each takes its part.
                share = kernel.seconds * kernel.runs / len(kernel.commands)
                results[f"command {command.number}"] = {"value": share * 1e6}
        data[function.name] = {
            "results": results,
            "gradient": [{"stop": 0, "bgColor": "#ffffff"}, {"stop": 1, "bgColor": "#f4a259"}],
        }
    return data
