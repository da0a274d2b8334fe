"""Clusters of Kubernetes as sources."""
