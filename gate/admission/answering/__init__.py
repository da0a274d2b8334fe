"""The answering model: what it is asked, how its answers are read, and who asks and who waits."""
