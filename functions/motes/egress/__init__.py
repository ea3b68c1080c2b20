"""What motes sends to its callers, as bytes: OpenAI's chunks and objects, and the particles themselves."""
