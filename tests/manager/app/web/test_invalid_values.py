"""What pydantic finds wrong in a request is a message by code, in the language of the caller."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from manager.app.web.contract.invalid_values import invalid_value
from manager.intake.messages.message_check import mistakes_of
from shared.messages import Message, render
from tests.manager.running import Running, running


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager."""
    with running(tmp_path) as opened:
        yield opened


class Asked(BaseModel):
    """A message with a field of each kind."""

    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]*$")] = "a"
    number: Annotated[int, Field(ge=1, lt=100)] = 1
    share: Annotated[float, Field(gt=0, le=1)] = 1
    is_on: bool = True
    way: Literal["push", "pull"] = "push"
    names: Annotated[list[str], Field(min_length=1, max_length=2)] = Field(default=["a"])
    inner: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("body", "code", "english", "japanese"),
    [
        ('{"name": ""}', "value_characters_at_least", "must have at least 1 character", "1 文字"),
        ('{"name": "abcdef"}', "value_characters_at_most", "at most 5 characters", "5 文字"),
        ('{"name": "A"}', "value_pattern", "must match the pattern ^[a-z]*$", "パターン"),
        ('{"name": 1}', "value_not_string", "name: must be a string", "文字列"),
        ('{"number": "1"}', "value_not_whole", "number: must be a whole number", "整数"),
        ('{"number": 0}', "value_at_least", "number: must be at least 1", "1 以上"),
        ('{"number": 100}', "value_below", "number: must be less than 100", "100 未満"),
        ('{"share": 0}', "value_above", "share: must be greater than 0", "0 より大きい"),
        ('{"share": 1.5}', "value_at_most", "share: must be at most 1", "1 以下"),
        ('{"share": "a"}', "value_not_number", "share: must be a number", "数に"),
        ('{"is_on": 1}', "value_not_boolean", "is_on: must be true or false", "true または false"),
        ('{"way": "fly"}', "value_choice", "way: must be one of push, pull", "push、pull"),
        ('{"names": []}', "value_items_at_least", "must have at least 1 item", "1 個以上"),
        ('{"names": ["a", "b", "c"]}', "value_items_at_most", "at most 2 items", "2 個まで"),
        ('{"names": "a"}', "value_not_array", "names: must be an array", "配列"),
        ('{"inner": 1}', "value_not_object", "inner: must be an object", "オブジェクト"),
        ('{"inner": {"a": null}}', "value_not_whole", "inner.a: must be a whole number", "整数"),
        ('{"name": ', "value_not_json", "body: invalid JSON: EOF", "JSON として"),
        ("[]", "value_not_object", "body: must be an object", "オブジェクト"),
    ],
)
def test_a_mistake_is_a_message(body: str, code: str, english: str, japanese: str) -> None:
    """With where it is, and the limit."""
    (found,) = mistakes_of(TypeAdapter(Asked), body.encode())
    message = invalid_value({**found, "loc": ("body", *found["loc"])})
    assert message.params["problem"].code == f"requests.{code}"
    assert english in render(message)
    assert japanese in render(message, "ja")


def test_a_missing_field_and_no_number() -> None:
    """The former has no value, the latter no JSON."""
    with pytest.raises(ValidationError) as missing:
        TypeAdapter(dict[Literal["a"], int]).validate_python({"b": 1})
    assert (
        invalid_value(missing.value.errors()[0]).params["problem"].code == "requests.value_choice"
    )
    with pytest.raises(ValidationError) as endless:
        TypeAdapter(Annotated[float, Field(allow_inf_nan=False)]).validate_python(math.inf)
    problem = invalid_value(endless.value.errors()[0]).params["problem"]
    assert problem.code == "requests.value_not_finite"


@pytest.mark.parametrize(
    "found",
    [
        {"type": "value_of_tomorrow", "loc": ("query", "a"), "msg": "Input should rhyme"},
        {"type": "greater_than", "loc": ("query", "a"), "msg": "Input should rhyme"},
        {"type": "json_invalid", "loc": ("query", "a"), "msg": "Input should rhyme", "ctx": None},
    ],
)
def test_what_is_not_known_is_said_as_pydantic_says_it(found: dict[str, Any]) -> None:
    """A type of a newer version, or one without its parameters."""
    problem = Message.of_text("Input should rhyme")
    assert invalid_value(found) == Message("requests.invalid_value", name="a", problem=problem)


def test_a_caller_is_told_in_its_language(prsm: Running) -> None:
    """By /api/v1, as a problem whose parameters are the messages."""
    answer = prsm.local.get("/api/v1/hosts?limit=0", headers={"Accept-Language": "ja"})
    told = answer.json()
    assert (answer.status_code, told["code"]) == (400, "invalid_value")
    assert told["detail"] == "limit: 1 以上にしてください"
    (value,) = told["params"]["values"]
    assert value["params"]["problem"] == {"code": "requests.value_at_least", "params": {"limit": 1}}
