"""The gateway against requests made from its own description, right ones and wrong ones."""
