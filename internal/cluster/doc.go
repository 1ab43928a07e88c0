// Package cluster leads from a Target to the cluster behind it: it reads the
// access that the Target stands for, refuses what would run programs or read
// files of this process, and keeps a bounded number of connections, each with
// clients, a mapping of kinds to resources, and watches that all who wait share.
package cluster
