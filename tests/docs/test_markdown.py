"""The reader of Markdown finds exactly the blocks and links that a person sees."""

from tests.docs.markdown import Block, blocks, links

PAGE = """\
# A page with a [link](other.md#part) and `[code](no.md)`

```python title="shown"
x = 1
```

<!-- snippet: skip needs a server -->

```python
connect()
```

<!-- snippet: policy -->
Words between a marker and a block undo the marker.

1. In a list:

    ```yaml
    a: 1
    ```

````markdown
```python
not_run()
```
[not a link](gone.md)
````
"""


def test_blocks_have_language_text_line_and_marker() -> None:
    assert blocks(PAGE) == [
        Block("python", "x = 1\n", 4, ""),
        Block("python", "connect()\n", 10, "skip needs a server"),
        Block("yaml", "a: 1\n", 19, ""),
        Block("markdown", "```python\nnot_run()\n```\n[not a link](gone.md)\n", 23, ""),
    ]


def test_links_leave_code_out() -> None:
    assert links(PAGE) == ["other.md#part"]
