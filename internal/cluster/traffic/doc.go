// Package traffic is what lies between a connection and the network: it sends
// credentials over TLS only, follows nothing, admits answers of API servers only, within
// the budget and at a pace, and counts the requests.
package traffic
