"""What is so about a proposed write, observed by code before a policy judges it: no model is asked, nothing is run."""
