"""Is quoted evidence really in the evaluated file? Findings for audit: they change no score and no validity."""
