"""Books: what there is, and who has it."""

from dataclasses import dataclass, field


@dataclass
class Book:
    """One book on the shelves."""

    isbn: str
    title: str
    lent_to: str | None = None


@dataclass
class Catalogue:
    """All books, by their number."""

    books: dict[str, Book] = field(default_factory=dict)

    def add(self, book: Book) -> None:
        """Put a book on the shelves."""
        if book.isbn in self.books:
            raise ValueError(f"{book.isbn} is there already")
        self.books[book.isbn] = book

    def lend(self, isbn: str, reader: str) -> None:
        """Hand a book to a reader."""
        book = self.books[isbn]
        if book.lent_to is not None:
            raise ValueError(f"{book.title!r} is lent to {book.lent_to}")
        book.lent_to = reader

    def take_back(self, isbn: str) -> None:
        """Take a book back."""
        self.books[isbn].lent_to = None

    def search(self, words: str) -> list[Book]:
        """Books whose title holds all the words."""
        wanted = words.lower().split()
        found = [book for book in self.books.values() if all(word in book.title.lower() for word in wanted)]
        return sorted(found, key=lambda book: (book.title, book.isbn))
