// Package login leads from what a Target says to what one logs in with: a kubeconfig that
// is safe, or a token that is requested and renewed. It makes no connection.
package login
