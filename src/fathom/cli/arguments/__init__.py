"""What each command takes: one file a command, each with one `parser()`, read only when it is needed."""
