"""Books come and go."""

import pytest
from lantern.catalogue import Book, Catalogue


def test_a_lent_book_is_not_lent_again():
    catalogue = Catalogue()
    catalogue.add(Book("1", "The Lighthouse"))
    catalogue.lend("1", "ada")
    with pytest.raises(ValueError, match="lent to ada"):
        catalogue.lend("1", "bob")
