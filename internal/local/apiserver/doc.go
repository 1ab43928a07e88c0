// Package apiserver is an API server of Kubernetes in memory. It serves no address: it is an
// http.RoundTripper, so that the clients of this process reach it and no other program does.
//
// It has what controllers and deployers rely on: discovery, versions and conflicts, watches with their
// history, finalizers and owners, generations, the subresource status, defaults and required fields of
// CustomResourceDefinitions, patches, server-side apply, dry runs. It has no users and rights, no admission
// policies, and no controllers: what they would do is for the caller, who gets each change. Its memory is
// bounded.
package apiserver
