# ruff: noqa: ISC004
"""The references of forms: those that Chromium goes to when a form is sent as it stands."""

from __future__ import annotations

import pytest

from agent.modules.page.html.form_reader import MOST_CHARACTERS, FormReader
from agent.modules.page.html.markup import by_tree, links_of_markup
from agent.modules.page.links import links_of
from agent.pipeline.link_kinds import LinkKind

PAGE = "http://a.example/dir/page.html?old"
FORM_KINDS = (LinkKind.FORM, LinkKind.FORM_VALUES)


def sent(html: str, codec: str = "utf-8") -> list[str]:
    """Return where the forms of a page lead, if both readers say the same."""
    body = html.encode(codec, "xmlcharrefreplace")
    one, other = (
        links_of(found, b"", PAGE, codec, agent_token="prsm", max_links=999)
        for found, _ in (links_of_markup(body, codec, "prsm"), by_tree(body, codec))
    )
    assert one == other
    return [
        url.removeprefix("http://a.example/dir/")
        for url, kind in zip(one.urls, one.kinds, strict=True)
        if kind in FORM_KINDS
    ]


def in_form(controls: str) -> list[str]:
    """Return where a form with controls leads, but for its own address."""
    return sent(f"<form action=x>{controls}</form>")[1:]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        # A control belongs to the form that its `form` names, in the order of the page.
        ("<input name=a value=1 form=f><form id=f action=x><input name=b value=2></form>"
         "<input name=c value=3 form=f><select form=f name=s><option>4</select>",
         ["x", "x?a=1&b=2&c=3&s=4"]),
        ("<form id=f action=x><input name=a value=1></form>"
         "<form id=g action=y><input name=b value=2 form=f><input name=c value=3></form>",
         ["x", "y", "x?a=1&b=2", "y?c=3"]),
        ("<form action=x><input name=a value=1><input name=b value=2 form=''>"
         "<input name=c value=3 form=none><input name=d value=4 form=X></form>",
         ["x", "x?a=1"]),
        ("<form id=f action=x></form><form id=f action=y></form><input name=a value=1 form=f>",
         ["x", "y", "x?a=1"]),
        ("<form id='a&amp;b' action=x></form><textarea name=t form='a&amp;b'>w</textarea>",
         ["x", "x?t=w"]),
        ("<button formaction=y></button><form id=f><button form=g formaction=z></form>", []),
        ("<form action=x><form action=y><input name=a value=1></form><input name=b value=2>",
         ["x", "x?a=1"]),
        # Buttons send it their way.
        ("<form id=f method=post action=/x><input name=a value=1></form>"
         "<button form=f formmethod=GET formaction='y?old#h' name=k value=v>",
         ["y", "y?a=1&k=v"]),
        ("<form method=post action=x><input type=hidden name=a value=1>"
         "<input type=submit formmethod=get></form>", ["x", "x?a=1"]),
        ("<form method=post action=x><button formmethod=post formaction=y>"
         "<button formmethod=dialog formaction=z><button formaction=q></form>", []),
        ("<form method=post action=x><button formmethod=bogus formaction=y></form>", ["y"]),
        ("<form action=x><input type=hidden name=a value=1><button formmethod=post></form>", ["x"]),
        ("<form action=x><input type=hidden name=a value=1><button formaction=y></form>",
         ["x", "y", "y?a=1"]),
        ("<form action=x><input name=q><button formaction=y><input type=image formaction=z></form>",
         ["x", "y", "z"]),
        ("<form action=x><button type=button formaction=y><input type=reset formaction=z>"
         "<button disabled formaction=w></form>", ["x"]),
        ("<form action=x><button name=p value=1>1</button><button name=p value=2>2</button></form>",
         ["x", "x?p=1", "x?p=2"]),
        ("<form action=x rel=nofollow><button formaction=y name=a value=1></form>", []),
        # Without an action a form goes to its page, whatever the base.
        ("<base href=/b/><form><input name=a value=1></form>", ["page.html?a=1"]),
        ("<base href=/b/><form action=' '><input name=a value=1><button formaction=''></form>",
         ["page.html", "page.html?a=1"]),
        ("<iframe srcdoc='<form action=x><input name=a value=1></form>'></iframe>", []),
    ],
)  # fmt: skip
def test_which_form_is_sent_where(html: str, found: list[str]) -> None:
    """By id, around the control, by each of its buttons; only by GET."""
    assert sent(html) == found


@pytest.mark.parametrize(
    ("controls", "found"),
    [
        # Disabled controls are not sent.
        ("<input name=a value=1 disabled><input name=b value=2>", ["x?b=2"]),
        ("<fieldset disabled><legend><input name=l value=1></legend><legend><input name=m value=2>"
         "</legend><input name=n value=3><fieldset><legend><input name=o value=4></legend>"
         "</fieldset></fieldset><input name=p value=5>", ["x?l=1&p=5"]),
        ("<fieldset><input name=a value=1></fieldset>", ["x?a=1"]),
        ("<fieldset disabled><button formaction=y></fieldset><input name=a value=1>", ["x?a=1"]),
        ("<select name=s><optgroup disabled><option selected>1</optgroup><option>2</select>",
         ["x?s=2"]),
        ("<select name=s><optgroup disabled><option>1<optgroup><option>2</select>", ["x?s=2"]),
        ("<select name=s disabled><option>1</select><input name=a value=1>", ["x?a=1"]),
        # What is chosen.
        ("<select name=s><option selected>1<option selected>2</select>"
         "<select name=t><option disabled selected>3<option>4</select>"
         "<select name=u size=2><option>5</select><select name=v size=1><option disabled>6<option>7"
         "</select><select name=w multiple><option selected>8<option selected>9</select>",
         ["x?s=2&v=7&w=8&w=9"]),
        ("<input type=radio name=r value=1 checked><input type=radio name=r value=2 checked>"
         "<input type=radio name=q value=3 checked><input type=radio name=q checked disabled>",
         ["x?r=2"]),
        ("<input list=l name=q value=v><datalist id=l><option value=1><option>2</datalist>",
         ["x?q=v"]),
        # Values by type.
        ("<input type=range name=a><input type=range name=b min=2 max=5 value=9>"
         "<input type=range name=c step=10 value=33 min=0><input type=color name=d>"
         "<input type=color name=e value=#ABCDEF>",
         ["x?a=50&b=5&c=30&d=%23000000&e=%23abcdef"]),
        ("<input type=number name=a value=1x><input type=number name=b value=-1.5>"
         "<input type=date name=c value=2020-02-03><input type=date name=d value=3.2.2020>"
         "<input type=week name=e value=2020-W07><input type=time name=f value=24:00>"
         "<input type=datetime-local name=g value='2020-01-02 03:04'>",
         ["x?a=&b=-1.5&c=2020-02-03&d=&e=2020-W07&f=&g=2020-01-02T03%3A04"]),
        ("<input type=url name=a value=' http://b '><input type=email name=b value=' c@d '>"
         "<input name=c value='d&#10;e'><input type=hidden name=f value='g\nh'>"
         "<textarea name=i>\n\nj\r\nk</textarea>",
         ["x?a=http%3A%2F%2Fb&b=c%40d&c=de&f=g%0D%0Ah&i=%0D%0Aj%0D%0Ak"]),
        ("<input type=bogus name=a><input type=month name=b>", []),
        # The direction of a text.
        ("<input name=a value=b dirname=a.dir><input name=c dirname=d dir=RTL>"
         "<input name=e value='1 שלום' dirname=f dir=auto><textarea name=g dirname=h dir=auto>w"
         "</textarea><input type=number name=i dirname=j><input name=k dirname=''>",
         ["x?a=b&a.dir=ltr&c=&d=rtl&e=1+%D7%A9%D7%9C%D7%95%D7%9D&f=rtl&g=w&h=ltr&i=&k="]),
        # What names the encoding.
        ("<input type=hidden name=_charset_ value=z><input name=q value=1>",
         ["x?_charset_=UTF-8&q=1"]),
        ("<input type=hidden name=_CharSet_><input name=_charset_ value=v>",
         ["x?_CharSet_=UTF-8&_charset_=v"]),
        ("<input type=hidden name=_charset_><input name=q>", []),
    ],
)  # fmt: skip
def test_what_a_form_sends(controls: str, found: list[str]) -> None:
    """As its controls stand when nobody has touched them."""
    assert in_form(controls) == found


@pytest.mark.parametrize(
    ("codec", "query"),
    [
        ("utf-8", "_charset_=UTF-8&q=%E6%97%A5%C3%A9"),
        ("cp932", "_charset_=Shift_JIS&q=%93%FA%26%23233%3B"),
        ("euc_jp", "_charset_=EUC-JP&q=%C6%FC%26%23233%3B"),  # browsers write no third plane
        ("gbk", "_charset_=GBK&q=%C8%D5%A8%A6"),
        ("cp1252", "_charset_=windows-1252&q=%26%2326085%3B%E9"),
        ("iso2022_jp", "_charset_=ISO-2022-JP&q=%1B%24BF%7C%1B%28B%26%23233%3B"),
        ("utf-16-le", "_charset_=UTF-8&q=%E6%97%A5%C3%A9"),
    ],
)
def test_the_encoding_is_the_page_s(codec: str, query: str) -> None:
    """And its name the standard's, unless the form asks for another."""
    html = "<form action=x{}><input type=hidden name=_charset_><input name=q value=日&#233;></form>"
    assert sent(html.format(""), codec) == ["x", f"x?{query}"]
    asked = html.format(' accept-charset="none utf-16 gbk"')
    assert sent(asked, codec) == ["x", "x?_charset_=UTF-8&q=%E6%97%A5%C3%A9"]


def test_a_page_of_large_forms_costs_little() -> None:
    """Options by values that are long are not multiplied."""
    options = "<option>1" * 500
    page = f"<form action=x><input name=a value={'v' * 9000}><select name=s>{options}</select>"
    assert sent(page) == ["x"]


def test_many_forms_together_are_bounded() -> None:
    """Each may be small, and all together name their options times their values."""
    reader = FormReader("utf-8", PAGE)
    for _ in range(20):
        reader.take("form", {"action": "x"})
        reader.take("input", {"type": "hidden", "name": "a", "value": "v" * 8000})
        reader.take("select", {"name": "s"})
        for number in range(500):
            reader.take("option", {"value": str(number)})
        reader.take("/select", {})
        reader.take("/form", {})
    size = sum(len(reference) for reference, _ in reader.end())
    assert MOST_CHARACTERS / 2 < size <= MOST_CHARACTERS
