// Package traffic has the HTTP transport of connections: it sends credentials over TLS only,
// follows no redirects, admits only answers of API servers, within the budget and at a limited
// rate, and counts the requests.
package traffic
