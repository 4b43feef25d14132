"""What the pages say of recorded results is what was recorded."""

from rungs_course import adapters


def test_pages_hold_their_sections():
    for page, named in adapters.sections().items():
        for name, section in named.items():
            assert f"<!-- {name} -->\n{section}<!-- /{name} -->" in page.read_text()


def test_every_adapter_has_an_example_of_some_lines():
    for adapter, (_, module, _) in adapters.ADAPTERS.items():
        assert not module or 3 < int(adapters._lines(adapter)) < 40
