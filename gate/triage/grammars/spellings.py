"""Under which labels and fields logs and metrics carry what an incident's subject names."""

from __future__ import annotations

from collections.abc import Mapping

from gate.triage.grammars.fields import plain

# The subject's key: other names of the same thing. A key that is not listed has its own name alone.
ALSO: Mapping[str, frozenset[str]] = {
    "namespace": frozenset(
        ("kubernetes_namespace_name", "k8s_namespace_name", "kubernetes_namespace", "kubernetes.namespace_name",
         "kubernetes.namespace", "k8s.namespace.name", "resource.attributes.k8s.namespace.name", "exported_namespace")
    ),
    "pod": frozenset(
        ("pod_name", "kubernetes_pod_name", "k8s_pod_name", "kubernetes.pod_name", "kubernetes.pod.name",
         "k8s.pod.name", "resource.attributes.k8s.pod.name", "exported_pod")
    ),
    "container": frozenset(
        ("container_name", "kubernetes_container_name", "k8s_container_name", "kubernetes.container_name",
         "kubernetes.container.name", "k8s.container.name", "exported_container")
    ),
    "app": frozenset(
        ("app_name", "app_kubernetes_io_name", "kubernetes_labels_app", "kubernetes.labels.app",
         "kubernetes.labels.app_kubernetes_io/name", "label_app")
    ),
    "job": frozenset(
        ("job_name", "batch_kubernetes_io_job_name", "kubernetes_labels_job_name", "kubernetes.labels.job-name",
         "kubernetes.job.name", "k8s.job.name", "k8s_job_name", "label_job_name")
    ),
    "job_name": frozenset(
        ("job", "batch_kubernetes_io_job_name", "kubernetes_labels_job_name", "kubernetes.labels.job-name",
         "kubernetes.job.name", "k8s.job.name", "k8s_job_name", "label_job_name")
    ),
    "deployment": frozenset(
        ("deployment_name", "k8s_deployment_name", "kubernetes.deployment.name", "k8s.deployment.name")
    ),
    "service": frozenset(
        ("service_name", "service.name", "kubernetes.labels.service", "resource.attributes.service.name")
    ),
    "node": frozenset(
        ("node_name", "kubernetes_node", "k8s_node_name", "kubernetes.node.name", "k8s.node.name", "nodename")
    ),
    "host": frozenset(("hostname", "host.name", "host_name")),
    "cluster": frozenset(("cluster_name", "k8s_cluster_name", "k8s.cluster.name", "orchestrator.cluster.name")),
    "environment": frozenset(
        ("env", "deployment_environment", "deployment_environment_name", "deployment.environment",
         "deployment.environment.name", "service.environment", "resource.attributes.deployment.environment")
    ),
    "env": frozenset(
        ("environment", "deployment_environment", "deployment_environment_name", "deployment.environment",
         "deployment.environment.name", "service.environment")
    ),
    "log_group": frozenset(("logGroupName", "log_group_name", "@log")),
    "db_instance": frozenset(("DBInstanceIdentifier", "dbinstance_identifier", "db_instance_identifier")),
    "db_cluster": frozenset(("DBClusterIdentifier", "dbcluster_identifier")),
    "instance_id": frozenset(("InstanceId",)),
    "function": frozenset(("FunctionName", "function_name")),
    "queue": frozenset(("QueueName", "queue_name")),
    "load_balancer": frozenset(("LoadBalancer", "LoadBalancerName")),
    "table": frozenset(("TableName", "table_name")),
    "bucket": frozenset(("BucketName", "bucket_name")),
    "volume": frozenset(("VolumeId", "volume_id", "persistentvolumeclaim")),
}  # fmt: skip


def is_name_of(field: str, key: str) -> bool:
    """Whether a label or field carries what the subject's key names."""
    name = plain(field)
    return name == key or (key in ALSO and name in ALSO[key])


def has_other_names(key: str) -> bool:
    """Whether a key is a label or field of its own in some system, under whatever name."""
    return key in ALSO


def is_part_of(part: str, name: str) -> bool:
    """Whether a text that was searched for stands in a name, so that what bears the name is among what was found."""
    return part != "" and part in name
