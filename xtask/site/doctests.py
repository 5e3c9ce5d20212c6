"""Griffe extension that fences doctests, so that Markdown takes them for code. `Examples` sections need no fences."""

import re

import griffe

_SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)
_DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^[^\n]+\n?)*)(?:\n>>> .*\n?(?:^[^\n]+\n?)*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the doctests before a docstring's first section."""

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        self.on_object(obj=pkg)

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            text = obj.docstring.value
            section = _SECTION.search(text)
            end = section.start() if section else len(text)
            fenced = _DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text[:end])
            obj.docstring.value = fenced + text[end:]
