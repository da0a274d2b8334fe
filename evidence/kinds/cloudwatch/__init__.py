"""Amazon CloudWatch, its logs, and the events of Amazon RDS as sources."""
