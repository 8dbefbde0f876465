// Package cluster runs Flink on this machine: one JobManager, TaskManagers, and Beam's job server, each a Java process
// of its own, as on several hosts. Maven downloads the jars that pom.xml names; config.yaml is the configuration.
package cluster
