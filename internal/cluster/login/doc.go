// Package login turns the content of a Target into credentials: a safe kubeconfig, or a token that
// is requested and renewed. It makes no connection.
package login
