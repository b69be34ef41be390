"""Forms of the maze that a browser sends: `<form>`, its controls and buttons."""

from __future__ import annotations

from typing import Final

from tests.e2e.maze_form import Form

__all__ = ["SUBMISSIONS", "SUBMITTED_NEVER"]

_ONE: Final = "<input type=hidden name=a value=1>"


def _sent(name: str, controls: str, query: str) -> Form:
    return Form(name, f"<form action={{t}}>{controls}</form>", query=query)


SUBMISSIONS: Final = (
    Form("formaction", "<form><button formaction={t}>x</button></form>"),
    Form("formaction-input", "<form method=post><input type=submit formmethod=get formaction={t}>"),
    Form("form-hidden", "<form action={t}><input type=hidden name=a value=1></form>", query="a=1"),
    Form("form-text", "<form action={t}><input name=q value='x y'></form>", query="q=x+y"),
    Form(
        "form-checkbox",
        "<form action={t}><input type=checkbox name=c checked><input name=q value=z></form>",
        query="c=on&q=z",
    ),
    Form(
        "form-select",
        "<form action={t}><select name=s><option value=1>x<option value=2>y</select></form>",
        query="s=2",
    ),
    Form(
        "form-option-text",
        "<form action={t}><select name=s><option>one<option>two</select></form>",
        query="s=two",
    ),
    Form("form-textarea", "<form action={t}><textarea name=q>w</textarea></form>", query="q=w"),
    Form("select-jump", "<select onchange='location=this.value'><option value={t}>x</select>"),
    Form("isindex", "<isindex action={t}>"),
    Form(
        "control-before",
        f"<input name=b value=2 form=f><form id=f action={{t}}>{_ONE}</form>",
        query="b=2&a=1",
    ),
    Form(
        "control-behind",
        "<form id=f action={t}></form><p><input name=b value=2 form=f>",
        query="b=2",
    ),
    Form(
        "select-behind",
        "<form id=f action={t}></form><select form=f name=s><option>1</select>",
        query="s=1",
    ),
    Form(
        "control-of-other",
        f"<form id=f action={{t}}></form><form>{_ONE[:-1]} form=f></form>",
        query="a=1",
    ),
    Form(
        "button-behind",
        f"<form id=f method=post>{_ONE}</form>"
        "<button form=f formmethod=get formaction={t}>x</button>",
        query="a=1",
    ),
    Form(
        "formmethod-get",
        f"<form method=post action={{t}}>{_ONE}<button formmethod=get></form>",
        query="a=1",
    ),
    Form("formmethod-odd", "<form method=post><button formmethod=x formaction='{t}?o'></form>"),
    Form(
        "formaction-values",
        f"<form action=/>{_ONE}<button formaction={{t}} name=k value=v></form>",
        query="a=1&k=v",
    ),
    Form(
        "buttons",
        "<form action={t}><button name=p value=1><button name=p value=2></form>",
        query="p=2",
    ),
    _sent(
        "charset-field",
        "<input type=hidden name=_charset_><input name=q value=w>",
        "_charset_=UTF-8&q=w",
    ),
    Form(
        "accept-charset",
        "<form action={t} accept-charset=shift_jis>"
        "<input type=hidden name=_charset_><input name=q value='&#26085;'></form>",
        query="_charset_=Shift_JIS&q=%93%FA",
    ),
    _sent("disabled-control", f"{_ONE}<input name=b value=2 disabled>", "a=1"),
    _sent(
        "disabled-fieldset",
        f"<fieldset disabled><legend>{_ONE}</legend><input name=b value=2></fieldset>",
        "a=1",
    ),
    _sent(
        "disabled-optgroup",
        "<select name=s><optgroup disabled><option selected>1</optgroup><option>2</select>",
        "s=2",
    ),
    _sent("datalist", "<input list=l name=q value=v><datalist id=l><option>w</datalist>", "q=v"),
    _sent("dirname", "<input name=q value=v dirname=d dir=rtl>", "q=v&d=rtl"),
    _sent("range", "<input name=q type=range max=10>", "q=5"),
    Form("form-nested", f"<form action={{t}}><form action=/>{_ONE}</form>", query="a=1"),
)

SUBMITTED_NEVER: Final = {
    "button-of-none": "<form></form><button form=none formaction={t}>x</button>",
    "button-alone": "<button formaction={t}>x</button>",
    "button-disabled": "<form><button disabled formaction={t}>x</button></form>",
    "button-in-fieldset": "<form><fieldset disabled><button formaction={t}></fieldset></form>",
    "button-of-no-form": "<form><button type=button formaction={t}>x</button></form>",
    "button-dialog": "<form><button formmethod=dialog formaction={t}>x</button></form>",
}
