"""What outlives a process: callers' keys and vendors' health, in files or in DynamoDB, behind Protocols."""
