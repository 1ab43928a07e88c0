// Package cluster connects to the cluster of a Target: it keeps a bounded number of connections,
// each with clients, a mapping of kinds to resources, and shared watches. Its subpackages have the
// credentials (login), the allowed addresses (egress), the HTTP client (traffic), the memory budget
// (answerlimit), the watches (watch), and the errors (clustererror).
package cluster
