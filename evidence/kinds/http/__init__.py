"""Sources that are read over HTTP: the guarded client that each of them uses, and the plain `http` kind."""
