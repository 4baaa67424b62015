"""Fixtures that several tests of this folder share; they live where their machinery does."""

from tests.support.planting import both, planted, room_to_watch

__all__ = ["both", "planted", "room_to_watch"]
