"""Real clients of an OpenAI endpoint, with motes between them and a vendor that has every accident of the wire."""
