"""What is known: sources, tool contracts and the gateway that reads them."""
