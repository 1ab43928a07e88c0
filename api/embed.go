// Package api embeds the manifests that make an API server serve our kinds: the
// CRDs and the admission policies. Both are generated.
package api

import "embed"

// CRDs holds the CustomResourceDefinitions, one file per kind.
//
//go:embed crds/*.yaml
var CRDs embed.FS

// Policies holds the ValidatingAdmissionPolicies and their bindings, one file per
// policy.
//
//go:embed policies/*.yaml
var Policies embed.FS
