"""Writing pages so that Sphinx reads again only those that have changed."""

from pathlib import Path


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Make the files of a folder these, and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
