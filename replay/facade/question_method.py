"""The method of a log that asks a question, made from its declaration."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..logs.log import Log
from ..questions.fields import Door, declared_fields
from ..questions.question import Question
from .options import by_their_names, taken_by

P = ParamSpec("P")
A = TypeVar("A")


def method_of(kind: Callable[P, Question[A]]) -> Callable[Concatenate[Log, P], A]:
    """Return a method that takes the fields of a question and returns its answer.

    Type checkers see the fields with their types; help shows them with what they are.
    """

    def ask(log: Log, /, *given: P.args, **named: P.kwargs) -> A:
        return _asked(ask, kind, log, *given, **named).ask(log)

    _describe(ask, kind, [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    return ask


def function_of(kind: Callable[P, Question[A]]) -> Callable[P, A]:
    """Return a function that asks a question that needs no log."""

    def ask(*given: P.args, **named: P.kwargs) -> A:
        # Such a question never looks at the log that it gets.
        nothing: Any = None
        return _asked(ask, kind, *given, **named).ask(nothing)

    _describe(ask, kind, [])
    return ask


def _asked(
    ask: Any, kind: Callable[..., Question[A]], *given: object, **named: object
) -> Question[A]:
    """Return the question that the arguments of a function ask, by its signature.

    A single name need not be in a list.

    :raises TypeError: the function has no such parameter, or lacks one; the text names it.
    """
    signature = inspect.signature(ask)
    options = {
        field.about.name.replace("-", "_"): field.name
        for field in declared_fields(_class_of(kind))
        if field.about.name and field.has(Door.PYTHON)
    }
    try:
        fields = signature.bind(*given, **by_their_names(named, signature, options)).arguments
    except TypeError as fault:
        raise TypeError(f"{ask.__name__}(): {fault}; {taken_by(signature)}") from None
    # Of a method, the signature has it for help; the question has no such field.
    fields.pop("self", None)
    many = {field.name for field in declared_fields(_class_of(kind)) if field.many}
    return kind(
        **{
            name: (value,) if name in many and isinstance(value, str) else value
            for name, value in fields.items()
        }
    )


def _describe(ask: Any, kind: object, first: Sequence[inspect.Parameter]) -> None:
    """Give a function the name, the help and the signature of a question.

    :param first: its parameters before the fields of the question.
    """
    question = _class_of(kind)
    ask.__name__ = ask.__qualname__ = (question.name or question.command).replace("-", "_")
    ask.__doc__ = _text(question)
    ask.__signature__ = _signature(question, first)


def _class_of(kind: object) -> type[Question[Any]]:
    """Return the class of a question, which type checkers see as what makes one."""
    assert isinstance(kind, type)
    assert issubclass(kind, Question)
    return kind


def _signature(kind: type[Question[Any]], first: Sequence[inspect.Parameter]) -> inspect.Signature:
    """Return the signature of the record, with other parameters before its fields."""
    usual, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    fields = [
        inspect.Parameter(
            field.name,
            usual if field.is_argument else named,
            default=inspect.Parameter.empty if field.is_required else field.default,
            annotation=_type_of(kind, field.name),
        )
        for field in declared_fields(kind)
        if field.has(Door.PYTHON)
    ]
    # A text, as annotations are not evaluated: so help shows names of types and not their modules.
    returned = kind.answer.__annotations__["return"]
    return inspect.Signature([*first, *fields], return_annotation=returned)


def _type_of(kind: type[Question[Any]], name: str) -> str:
    """Return the type of a field as its class writes it: the T of ``Annotated[T, Field(...)]``."""
    declared = map(inspect.get_annotations, kind.__mro__)
    written = next(types[name] for types in declared if name in types)
    annotated = ast.parse(written, mode="eval").body
    assert isinstance(annotated, ast.Subscript)
    assert isinstance(annotated.slice, ast.Tuple)
    return ast.unparse(annotated.slice.elts[0])


def _text(kind: type[Question[Any]]) -> str:
    """Return the help of a question, what its fields are, and which errors it raises."""
    fields = [
        declared_field
        for declared_field in declared_fields(kind)
        if declared_field.has(Door.PYTHON)
    ]
    lines = [f":param {field.name}: {field.about.help}" for field in fields]
    # Only the errors: what else answer() says is for those who write questions.
    _, raises, errors = (inspect.getdoc(kind.answer) or "").partition(":raises ")
    if any(field.name == "strict" for field in fields):
        lines.append(":raises NotKnown: not all is known, and ``strict`` is set.")
    return "\n".join([inspect.getdoc(kind) or "", "", *lines, raises + errors])
