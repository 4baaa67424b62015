"""normalizer: raw LLM-judge bundles become canonical evaluation records, or kept evidence of why not."""
