"""Elasticsearch and OpenSearch as sources."""
