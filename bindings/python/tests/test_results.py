"""The results of calls: enums that print their names, and dataclasses that can still be unpacked as tuples."""

import dataclasses
import inspect
import json
import pickle
import re
from pathlib import Path

import mpin
import pytest

SESSION = ("register_only", "preroll_id", "app_name", "app_icon_url", "customer_id", "customer_name")


def test_a_state_prints_its_name_and_is_still_a_number() -> None:
    state = mpin.State.REGISTERED
    assert (str(state), f"{state}", f"{state:>12}", "%s" % state) == ("REGISTERED", "REGISTERED", "  REGISTERED", "REGISTERED")
    assert state == 4 and int(state) == 4 and f"{state:d}" == "4" and f"{state:02x}" == "04"
    assert mpin.State(4) is state and mpin.State["REGISTERED"] is state and repr(state) == "<State.REGISTERED: 4>"


@pytest.mark.parametrize(
    "answer",
    [
        mpin.OTP("123456", 60, 1893456060, 1893456000),
        mpin.Expiration(2, 1),
        mpin.Verification(0, "access", "token"),
        mpin.ServiceDetails("name", "https://example.com", "rps", "/logo"),
        mpin.SessionDetails(True, "alice", "app", "/a", "c", "C", "/c", "i", "/r"),
        mpin.Signature(1, b"u", b"v", b"key", "id", "dtas"),
        mpin.VerificationMail(1893456000, mpin.VerificationMethod.CODE),
        mpin.Activation(0, "project", "alice", "access", "token"),
        mpin.TrustSession("access", "project", "alice", "d", b"h", "P", "/l", 4),
        mpin.QuickCode("123456", 1893456300, 300),
    ],
)
def test_an_answer_is_a_dataclass_and_a_tuple(answer: object) -> None:
    assert dataclasses.is_dataclass(answer) and not isinstance(answer, type)
    made = dataclasses.asdict(answer)
    assert list(made) == [field.name for field in dataclasses.fields(answer)] == list(answer._fields)
    values = tuple(answer)
    assert values == tuple(made.values()) and len(answer) == len(values) and answer[0] == values[0]
    assert answer[-1] == values[-1] and answer[:2] == values[:2]
    first, *_ = answer
    assert first == values[0]
    assert answer == values and answer == type(answer)(*values) and hash(answer) == hash(values)
    assert answer != values[:-1] and answer != object()
    assert answer._asdict() == made and answer._replace(**{answer._fields[0]: values[0]}) == answer
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert repr(answer).startswith(f"{type(answer).__name__}({answer._fields[0]}=")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(answer, answer._fields[0], values[0])


def test_answers_of_two_kinds_differ() -> None:
    assert mpin.Expiration(2, 1) != mpin.Verification(2, "", "") and mpin.OTP("1", 2, 3, 4).otp == "1"


def test_the_answer_of_a_login_is_its_text_and_its_members() -> None:
    text = '{"userId":"alice@example.com","logoutData":{"session":7}}'
    answer = mpin.LoginAnswer(text)
    assert answer == text and json.loads(answer) == answer.data and answer[0] == "{" and "userId" in answer
    assert answer["userId"] == "alice@example.com" and answer["logoutData"]["session"] == 7
    assert answer.get("none") is None and answer.get("none", 1) == 1
    with pytest.raises(KeyError):
        answer["none"]
    for nothing in ("", "[1]", "no JSON"):
        assert mpin.LoginAnswer(nothing).data == {} and mpin.LoginAnswer(nothing).get("a") is None


def test_every_option_of_the_constructor_is_documented() -> None:
    options = [name for name in inspect.signature(mpin.SDK.__init__).parameters if name != "self"]
    assert len(options) >= 12
    described = re.findall(r"^        ([a-z_]+): ", mpin.SDK.__init__.__doc__ or "", re.MULTILINE)
    assert described == options
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert re.findall(r"^\| `([a-z_]+)` \|", readme, re.MULTILINE) == options
