"""Small edits of a module: comparisons, boolean operators, constants, negations and returns."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: Arguments that change no outcome: how a value is shown, stored or checked for equal lengths.
_IDLE = ("repr", "slots", "frozen", "eq", "strict", "maxsize", "init")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: where it is and what it does, and the whole module with it."""

    line: int
    what: str
    tree: ast.Module


def edits(source: str) -> Iterator[Edit]:
    """Yield every edit of a module, in the order of its nodes."""
    tree = ast.parse(source)
    idle = _idle_nodes(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in idle:
            continue
        for turn, what in enumerate(_choices(node)):
            other = copy.deepcopy(tree)
            target = next(item for at, item in enumerate(ast.walk(other)) if at == place)
            _apply(target, turn)
            yield Edit(getattr(node, "lineno", 0), what, ast.fix_missing_locations(other))


def _choices(node: ast.AST) -> list[str]:
    """Return what may be done to a node, by name."""
    match node:
        case ast.Compare():
            return [f"{type(op).__name__} -> {_COMPARISONS[type(op)].__name__}" for op in node.ops]
        case ast.BoolOp():
            return ["And <-> Or"]
        case ast.UnaryOp(op=ast.Not()):
            return ["not dropped"]
        case ast.IfExp() | ast.If():
            return ["condition turned"]
        case ast.Constant(value=bool()):
            return ["boolean turned"]
        case ast.Constant(value=int() | float()):
            return ["number plus one"]
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            return ["returns None"]
    return []


def _apply(node: ast.AST, turn: int) -> None:
    match node:
        case ast.Compare():
            node.ops[turn] = _COMPARISONS[type(node.ops[turn])]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.IfExp() | ast.If():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() | float() as value):
            node.value = value + 1
        case ast.Return():
            node.value = ast.Constant(None)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _idle_nodes(tree: ast.Module) -> set[int]:
    """Return the nodes that no run evaluates to an outcome: annotations, decorators, reprs."""
    roots: list[ast.AST | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                roots += [*node.decorator_list, node.returns]
            case ast.ClassDef():
                roots += node.decorator_list
            case ast.arg() | ast.AnnAssign():
                roots.append(node.annotation)
            case ast.keyword() if node.arg in _IDLE:
                roots.append(node.value)
    return {id(node) for root in roots if root is not None for node in ast.walk(root)}
